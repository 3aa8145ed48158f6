/** Reads response bodies that are not event streams. */

import type { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import type { BodyReader, Exchange } from './http-exchange.ts';
import { MAX_ERROR_BODY_BYTES } from './http-limits.ts';
import { readJson } from './json-text.ts';

/** Reads the whole body; rejects if it fails. */
export function readBody(exchange: Exchange, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    exchange.read(new Collector(resolve, reject), { maxBytes, steady: true }),
  );
}

/** Reads an error response's body, truncated to the limit; '' on failure. Never rejects. */
export function readText(exchange: Exchange): Promise<string> {
  return readBody(exchange, MAX_ERROR_BODY_BYTES).then(
    (body) => body.toString('utf8'),
    () => '',
  );
}

/** Parses the frames of a JSON text: one, or a legacy batch; undefined if it is invalid or nested too deep. */
export function parseFrames(text: string): readonly JsonRpcMessage[] | undefined {
  const read = readJson(text.startsWith('\uFEFF') ? text.slice(1) : text);
  if (read === undefined) return undefined;
  const { value } = read;
  const frames: readonly unknown[] = Array.isArray(value) ? value : [value];
  // The contract requires only an object; its reader validates the members.
  return frames.every(isRecord) ? (frames as readonly unknown[] as readonly JsonRpcMessage[]) : undefined;
}

class Collector implements BodyReader {
  readonly #resolve: (body: Buffer) => void;
  readonly #reject: (error: PlugboardError) => void;
  readonly #chunks: Buffer[] = [];

  constructor(resolve: (body: Buffer) => void, reject: (error: PlugboardError) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  chunk(bytes: Buffer): void {
    this.#chunks.push(bytes);
  }

  end(): void {
    const [only, ...others] = this.#chunks;
    this.#resolve(only !== undefined && others.length === 0 ? only : Buffer.concat(this.#chunks));
  }

  failed(error: PlugboardError): void {
    this.#reject(error);
  }
}
