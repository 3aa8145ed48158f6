/** Serves an endpoint over a pair of streams, such as this process's stdio. */

import type { Readable, Writable } from 'node:stream';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import {
  type JsonRpcMessage,
  messageText,
  type RequestId,
  RPC_INVALID_REQUEST,
  RPC_PARSE_ERROR,
} from '../lib/json-rpc.ts';
import { type Dropped, LineCutter } from '../lib/lines.ts';
import { inTime } from '../lib/waits.ts';
import { MAX_JSON_DEPTH, nestsTooDeep, RESCUE_CHARS, recoverRequestId } from '../transport/framing-rescue.ts';
import type { Backend, Served } from './backend.ts';
import { ClientConnection } from './client-connection.ts';
import { MAX_BODY_BYTES, readMessage } from './request-body.ts';

/** With this much unread by the client, reading from it pauses, and notifications are dropped. */
const MAX_UNREAD_BYTES: number = 16 * 1024 * 1024;

/** Newline-delimited messages over a pair of streams: bounds the length of lines and the unread output. */
class LineWriter {
  readonly #output: Writable;
  readonly #write: (text: string) => boolean;
  #waiting = '';
  #onDrained: (() => void) | undefined;

  /** `write`: the actual writer, if the stream's own method was replaced. */
  constructor(output: Writable, write: (text: string) => boolean = (text) => output.write(text)) {
    this.#output = output;
    this.#write = write;
    output.on('drain', () => this.#drained());
  }

  get isFull(): boolean {
    return this.#output.writableLength + this.#waiting.length > MAX_UNREAD_BYTES;
  }

  /** Returns false if the message is dropped: the client is gone, or reads too slowly for a notification. */
  send = (message: JsonRpcMessage): boolean => {
    if (this.#output.destroyed || (!('id' in message) && this.isFull)) return false;
    const text = messageText(message);
    // Lines of one tick are sent in one write.
    if (this.#waiting === '') process.nextTick(this.#flush);
    this.#waiting += `${text}\n`;
    return true;
  };

  /** Calls back once, when there is room again. */
  onceDrained(then: () => void): void {
    this.#onDrained = then;
  }

  /** Resolves when everything was passed to the system, or can no longer be. */
  async flushed(): Promise<void> {
    this.#flush();
    const { destroyed, writableLength } = this.#output;
    if (destroyed || writableLength === 0) return;
    await new Promise<void>((resolve) => {
      this.#output.once('drain', resolve);
      this.#output.once('close', resolve);
      this.#output.once('error', () => resolve());
    });
  }

  #flush = (): void => {
    const text = this.#waiting;
    this.#waiting = '';
    if (text !== '' && !this.#output.destroyed) this.#write(text);
  };

  #drained(): void {
    const then = this.#onDrained;
    this.#onDrained = undefined;
    then?.();
  }
}

interface LineReader {
  line(text: string): void;
  /** Called for a line that exceeds the maximum body size; the next one is read. */
  dropped(line: Dropped): void;
}

/** Reads lines and skips blank ones. The last line may end with the input. */
function readLines(input: Readable, reader: LineReader): void {
  const cutter = new LineCutter(
    (bytes) => {
      const line = bytes.toString('utf8');
      if (line.trim() !== '') reader.line(line);
    },
    { maxBytes: MAX_BODY_BYTES, dropped: (line) => reader.dropped(line) },
  );
  input.on('data', (chunk: Buffer) => cutter.push(chunk));
  input.once('end', () => cutter.end());
}

/** How long running requests may continue for a client that has closed its input but may still read. */
const FINISH_MS = 60_000;

interface LineStreams {
  readonly input: Readable;
  readonly output: Writable;
  /** The actual writer if `output.write` was replaced; default: `output.write`. */
  readonly write?: ((text: string) => boolean) | undefined;
  /** Time limit for the responses to running requests after the end of the input; default: a minute. */
  readonly finishMs?: number | undefined;
  /** The identity of the client; default: `stdio`. */
  readonly principal?: string | undefined;
}

/** Serves a backend to the one client at the other end; ends when the client closes its side. */
export function serveLines(backend: Backend, streams: LineStreams): Served {
  const { input, finishMs = FINISH_MS, principal = 'stdio' } = streams;
  const { clientConnection, writer, left, broken, answered } = openLines(backend, principal, streams);
  let closing: Promise<void> | undefined;
  const closed = Promise.race([left, broken]).then(async () => {
    clientConnection.inputEnded();
    await inTime(Promise.race([answered(), broken]), finishMs, backend.clock, undefined);
    // The responses are no longer read: running requests are cancelled (F55).
    clientConnection.close(new PlugboardError('CANCELLED', 'The client disconnected'));
    await backend.close();
    await Promise.race([writer.flushed(), broken]);
  });
  return {
    closed,
    close() {
      closing ??= backend.close().then(() => {
        input.destroy();
        return closed;
      });
      return closing;
    },
  };
}

/** One client of a backend that may have others. */
export interface LineClient {
  readonly clientConnection: ClientConnection;
  readonly writer: LineWriter;
  /** Resolves when the client has closed its input. */
  readonly left: Promise<void>;
  /** Resolves when the client stops reading. */
  readonly broken: Promise<void>;
  readonly isAnswered: boolean;
  /** Resolves when all requests are answered; change streams do not count. */
  answered(): Promise<void>;
}

/** `principal`: the identity of the client; data of one principal is never shown to another. */
export function openLines(
  backend: Backend,
  principal: string,
  { input, output, write }: LineStreams,
): LineClient {
  const writer = new LineWriter(output, write);
  const { send } = writer;
  const ready = (): Promise<void> | undefined => backend.ready?.(principal);
  const clientConnection = new ClientConnection(backend, {
    principal,
    stateless: false,
    broadcast: send,
    ready,
  });
  let unanswered = 0;
  const onAnswered = new Set<() => void>();
  const received = (frame: Record<string, unknown>): void => {
    const pending = clientConnection.receive(frame, { send, onGone: undefined });
    if (pending === undefined) return;
    unanswered += 1;
    void pending.then((answer) => {
      if (answer !== undefined) send(answer);
      unanswered -= 1;
      if (unanswered > clientConnection.streams) return;
      for (const answered of onAnswered) answered();
      onAnswered.clear();
    });
  };
  const readLine = (line: string): void => {
    const value = readMessage(line);
    if (value === undefined) return void send(unreadable(line));
    for (const frame of Array.isArray(value) ? value : [value]) {
      if (isRecord(frame) && frame['jsonrpc'] === '2.0') received(frame);
      else send(failure(RPC_INVALID_REQUEST, 'This line is not a JSON-RPC message'));
    }
    // Stops reading from a client that does not read; pending responses are sent once there is room.
    if (writer.isFull && !input.isPaused()) {
      input.pause();
      writer.onceDrained(() => input.resume());
    }
  };
  readLines(input, {
    line: readLine,
    dropped({ head, tail, bytes }) {
      const id = recoverRequestId(head.toString('utf8'), tail.toString('utf8'));
      const message = `A message of ${bytes} bytes; the limit is ${MAX_BODY_BYTES} bytes.`;
      send(failure(RPC_INVALID_REQUEST, message, id));
    },
  });
  return {
    clientConnection,
    writer,
    left: new Promise((resolve) => {
      input.once('end', resolve);
      input.once('close', resolve);
    }),
    broken: new Promise((resolve) => {
      output.once('error', () => resolve());
    }),
    get isAnswered() {
      return unanswered <= clientConnection.streams;
    },
    async answered() {
      if (unanswered > clientConnection.streams)
        await new Promise<void>((resolve) => onAnswered.add(resolve));
    },
  };
}

/** Too deeply nested JSON may still have an id whose sender waits for a response. */
function unreadable(line: string): JsonRpcMessage {
  if (!nestsTooDeep(line)) return failure(RPC_PARSE_ERROR, 'This line is not JSON');
  const id = recoverRequestId(line.slice(0, RESCUE_CHARS), line.slice(-RESCUE_CHARS));
  return failure(RPC_PARSE_ERROR, `This line is nested more than ${MAX_JSON_DEPTH} levels deep.`, id);
}

function failure(code: number, message: string, id: RequestId | null = null): JsonRpcMessage {
  return { jsonrpc: '2.0', id, error: { code, message } };
}
