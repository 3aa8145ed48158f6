/** Splits a server's stdout into lines of limited length, and delivers the frames in them. */

import { constants, isAscii } from 'node:buffer';
import { PlugboardError } from '../errors.ts';
import { isRecord, parseJson } from '../lib/json.ts';
import type { JsonRpcMessage, RequestId } from '../lib/json-rpc.ts';
import { type Dropped, LineCutter } from '../lib/lines.ts';
import { MAX_JSON_DEPTH, nestsTooDeep, RESCUE_CHARS, recoverId } from './framing-rescue.ts';

/** Longest line that is buffered and parsed. */
export const DEFAULT_MAX_LINE_BYTES: number = 64 * 1024 * 1024;

/** A line this many times over the limit is treated as endless: the server is broken, not verbose. */
const ENDLESS_LINE_FACTOR = 4;

/** Receives the parsed stream, in order. */
export interface FrameSink {
  message(message: JsonRpcMessage): void;
  /** An unusable frame arrived; `id` is the request it answered, if it could be recovered. */
  lost(id: RequestId | undefined, error: PlugboardError): void;
  /** A line that is not JSON-RPC. */
  noise(line: string): void;
  /** An endless line: nothing after it can be read. */
  endless(error: PlugboardError): void;
}

export class FrameDecoder {
  readonly #sink: FrameSink;
  readonly #maxLineBytes: number;
  readonly #lines: LineCutter;
  #stopped = false;

  constructor(sink: FrameSink, maxLineBytes: number = DEFAULT_MAX_LINE_BYTES) {
    this.#sink = sink;
    // The longest string that V8 supports.
    this.#maxLineBytes = Math.min(maxLineBytes, constants.MAX_STRING_LENGTH);
    this.#lines = new LineCutter((bytes) => this.#read(bytes), {
      maxBytes: this.#maxLineBytes,
      dropped: (line) => this.#lost(line),
      dropping: (bytes) => this.#checkEnd(bytes),
    });
  }

  push(chunk: Buffer): void {
    if (!this.#stopped) this.#lines.push(chunk);
  }

  /** The stream ended: a last line without a newline is still read. */
  end(): void {
    if (!this.#stopped) this.#lines.end();
    this.stop();
  }

  /** Stops delivery; further data is dropped. */
  stop(): void {
    this.#stopped = true;
  }

  #read(bytes: Buffer): void {
    if (!this.#stopped) readLine(textOf(bytes), this.#sink);
  }

  #lost({ head, tail, bytes }: Dropped): void {
    if (this.#stopped) return;
    const id = recoverId(head.toString('utf8'), tail.toString('utf8'));
    this.#sink.lost(id, tooLong(`a message of ${bytes} bytes`, this.#maxLineBytes));
  }

  #checkEnd(bytes: number): void {
    if (this.#stopped || bytes <= this.#maxLineBytes * ENDLESS_LINE_FACTOR) return;
    this.stop();
    this.#sink.endless(tooLong(`${bytes} bytes without the end of a line`, this.#maxLineBytes));
  }
}

function tooLong(what: string, maxLineBytes: number): PlugboardError {
  return new PlugboardError('LIMIT_EXCEEDED', `The server sent ${what}; the limit is ${maxLineBytes} bytes`, {
    hint: 'Ask the tool for less at a time: a range, a page or a filter.',
  });
}

/** Decodes a line without its end. A large one is mostly ASCII, which is copied several times faster. */
function textOf(bytes: Buffer): string {
  const end = bytes.length - 1;
  const isPlain = end > MAX_SHORT_BYTES && isAscii(bytes);
  return bytes.toString(isPlain ? 'latin1' : 'utf8', 0, end);
}

/** Shorter lines are not worth the check. */
const MAX_SHORT_BYTES = 4096;

const BYTE_ORDER_MARK = '\ufeff';

type LineSink = Pick<FrameSink, 'message' | 'lost' | 'noise'>;

function readLine(line: string, sink: LineSink): void {
  if (nestsTooDeep(line)) {
    const message = `The server sent JSON that is nested more than ${MAX_JSON_DEPTH} levels deep.`;
    sink.lost(idOf(line), new PlugboardError('PROTOCOL_ERROR', message));
    return;
  }
  const frame = line.length < 2 ? undefined : parseJson(line);
  if (frame === undefined) readOddLine(line, sink);
  else deliver(frame, line, sink);
}

/** Handles the rare cases outside of the hot path: blanks, a byte order mark, text before a frame, invalid JSON. */
function readOddLine(line: string, sink: LineSink): void {
  const text = line.replaceAll(BYTE_ORDER_MARK, '').trim();
  if (text === '') return;
  // A prompt or progress dot without a newline precedes the frame on the same line.
  const at = Math.max(text.indexOf('{"jsonrpc"'), 0);
  const frame = parseJson(text.slice(at));
  if (frame !== undefined) {
    if (at > 0) sink.noise(text.slice(0, at));
    deliver(frame, text, sink);
    return;
  }
  const id = text.startsWith('{') ? idOf(text) : undefined;
  if (id === undefined) sink.noise(text);
  else
    sink.lost(
      id,
      new PlugboardError('PROTOCOL_ERROR', 'The server answered with a line that is not valid JSON'),
    );
}

function deliver(frame: unknown, line: string, sink: LineSink): void {
  // The receiver expects an object whose members are not validated, hence the casts.
  if (isRecord(frame)) {
    sink.message(frame as unknown as JsonRpcMessage);
    return;
  }
  const batch = Array.isArray(frame) ? frame.filter(isRecord) : [];
  for (const item of batch) sink.message(item as unknown as JsonRpcMessage);
  if (batch.length === 0) sink.noise(line);
}

function idOf(line: string): RequestId | undefined {
  return recoverId(line.slice(0, RESCUE_CHARS), line.slice(-RESCUE_CHARS));
}
