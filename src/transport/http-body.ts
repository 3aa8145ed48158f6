/** Reads the body of a response that is no stream of events. */

import type { PlugboardError } from '../errors.ts';
import { isRecord, type JsonRpcMessage } from '../lib/json-rpc.ts';
import type { BodyReader, Exchange } from './http-exchange.ts';
import { MAX_ERROR_BODY_BYTES } from './http-limits.ts';
import { readJson } from './json-text.ts';

/** The whole body, or the error that kept it from coming. */
export function readBody(exchange: Exchange, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    exchange.read(new Collector(resolve, reject), { maxBytes, steady: true }),
  );
}

/** What a body says beside a status: cut at its cap, empty when it broke. Never rejects. */
export function readText(exchange: Exchange): Promise<string> {
  return readBody(exchange, MAX_ERROR_BODY_BYTES).then(
    (body) => body.toString('utf8'),
    () => '',
  );
}

/** The frames of a JSON text: one, or a batch of the older kind; undefined when it holds anything else, or nests without end. */
export function parseFrames(text: string): readonly JsonRpcMessage[] | undefined {
  const read = readJson(text.startsWith('\uFEFF') ? text.slice(1) : text);
  if (read === undefined) return undefined;
  const { value } = read;
  const frames: readonly unknown[] = Array.isArray(value) ? value : [value];
  // The contract asks for an object and no more: what is in it is checked by its reader.
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
