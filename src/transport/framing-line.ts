/** Parses one line of a server's stdout: a frame, a batch of frames, or other output. */

import { PlugboardError } from '../errors.ts';
import { isRecord, parseJson } from '../lib/json.ts';
import type { JsonRpcMessage, RequestId } from '../lib/json-rpc.ts';
import type { FrameSink } from './framing.ts';
import { RESCUE_CHARS, recoverId } from './framing-rescue.ts';
import { MAX_JSON_DEPTH, nestsTooDeep } from './json-text.ts';

const BYTE_ORDER_MARK = '\ufeff';

type LineSink = Pick<FrameSink, 'message' | 'lost' | 'noise'>;

export function readLine(line: string, sink: LineSink): void {
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
      new PlugboardError('PROTOCOL_ERROR', 'The server answered with a line that is not valid JSON.'),
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
