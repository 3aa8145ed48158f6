/** Reads the body of a request, within a size limit, and parses it as JSON. */

import type { IncomingMessage } from 'node:http';
import { readMessage } from './exact-ids.ts';

/** Arguments may contain images; no reasonable request is larger than this. */
export const MAX_BODY_BYTES: number = 16 * 1024 * 1024;

export type Body = { readonly value: unknown } | { readonly status: 400 | 413 };

/** Uses a callback instead of a promise: this runs for every request, and most bodies are one chunk. */
export function readBody(request: IncomingMessage, done: (body: Body) => void): void {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
    done({ status: 413 });
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) {
      request.removeAllListeners('data').removeAllListeners('end');
      return done({ status: 413 });
    }
    chunks.push(chunk);
  });
  request.on('end', () => {
    const [first] = chunks;
    const whole = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
    done(readMessage(whole.toString('utf8')) ?? { status: 400 });
  });
}
