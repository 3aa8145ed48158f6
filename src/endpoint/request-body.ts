/** Parses messages as JSON with exact ids, and reads the body of a request within a size limit. */

import type { IncomingMessage } from 'node:http';
import { isRecord } from '../lib/json.ts';
import { EXACT_NUMBER_MARK } from '../lib/json-rpc.ts';
import { readJson } from '../transport/framing-rescue.ts';

/** Arguments may contain images; no reasonable request is larger than this. */
export const MAX_BODY_BYTES: number = 16 * 1024 * 1024;

export type Body = { readonly value: unknown } | { readonly status: 400 | 413 };

/** Reads a body without parsing it; undefined if it is too large. */
export function readBytes(
  request: IncomingMessage,
  done: (body: Buffer | undefined) => void,
  limit: number = MAX_BODY_BYTES,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= limit) return void chunks.push(chunk);
    request.removeAllListeners('data').removeAllListeners('end');
    done(undefined);
  });
  request.on('end', () => {
    const [first] = chunks;
    done(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
  });
}

/**
 * Uses a callback instead of a promise: this runs for every request. Most bodies are one chunk, which is parsed when it
 * arrives.
 */
export function readBody(
  request: IncomingMessage,
  done: (body: Body) => void,
  limit: number = MAX_BODY_BYTES,
): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limit) {
    done({ status: 413 });
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  const ended = (): void => done(parsedBody(Buffer.concat(chunks)));
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limit) {
      request.removeAllListeners('data').removeAllListeners('end');
      return done({ status: 413 });
    }
    if (chunks.length === 0 && bytes === declared) return done(parsedBody(chunk));
    if (chunks.length === 0 && declared > 0) request.on('end', ended);
    chunks.push(chunk);
  });
  if (!(declared > 0)) request.on('end', ended);
}

export function parsedBody(body: Buffer): Body {
  const value = readMessage(body.toString('utf8'));
  return value === undefined ? { status: 400 } : { value };
}

// Preserves ids that a JavaScript number cannot hold, such as 2^53 + 1: clients get them back digit by digit.
// Internally, such an id is a string with a marker before its digits, so that it is compared and stored like every
// other id. It becomes digits again when a message is serialized (`lib/json-rpc.ts`).

/** A long integer after the name of a member that holds an id. A quotation mark inside a string is escaped. */
const LARGE_IDS = /(?<!\\)("(?:id|requestId|progressToken)"\s*:\s*)(-?\d{16,})(?=\s*[,}])/g;

/** Parses a message, with ids as they were written; undefined if it cannot be parsed. */
export function readMessage(text: string): unknown {
  const value = readJson(text);
  if (!(Array.isArray(value) ? value.some(hasLargeId) : hasLargeId(value))) return value;
  const frames = Array.isArray(value) ? value : [value];
  const marked = readJson(text.replaceAll(LARGE_IDS, `$1"${EXACT_NUMBER_MARK.replace('\0', '\\u0000')}$2"`));
  const exact = Array.isArray(marked) ? marked : [marked];
  const joined = frames.map((frame: unknown, at) => withIds(frame, exact[at]));
  return Array.isArray(value) ? joined : joined[0];
}

function isLarge(id: unknown): boolean {
  return typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id);
}

function hasLargeId(frame: unknown): boolean {
  if (!isRecord(frame)) return false;
  if (isLarge(frame['id'])) return true;
  const { params } = frame;
  if (!isRecord(params)) return false;
  const { requestId, _meta } = params;
  return isLarge(requestId) || (isRecord(_meta) && isLarge(_meta['progressToken']));
}

/** Replaces only the members that are ids: other members with such a name stay numbers. */
function withIds(frame: unknown, exact: unknown): unknown {
  if (!isRecord(frame) || !isRecord(exact)) return frame;
  const { params } = frame;
  const given = { ...frame, ...('id' in frame ? { id: exact['id'] } : {}) };
  if (!isRecord(params) || !isRecord(exact['params'])) return given;
  const { requestId, _meta } = exact['params'];
  const own = params['_meta'];
  return {
    ...given,
    params: {
      ...params,
      ...('requestId' in params ? { requestId } : {}),
      ...(isRecord(own) && isRecord(_meta) && 'progressToken' in own
        ? { _meta: { ...own, progressToken: _meta['progressToken'] } }
        : {}),
    },
  };
}
