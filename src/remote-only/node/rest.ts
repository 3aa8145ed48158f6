/** The other imports from Node, each as far as a remote server needs it. */

import { absent } from './absent.ts';

export { Buffer, isUtf8 } from './buffer.ts';

// node:util
export function isDeepStrictEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [keys, others] = [Object.keys(a), Object.keys(b)];
  return (
    keys.length === others.length &&
    keys.every(
      (key) => Object.hasOwn(b, key) && isDeepStrictEqual(a[key as keyof typeof a], b[key as keyof typeof b]),
    )
  );
}

// node:os
export function hostname(): string {
  return 'remote-only';
}

export function homedir(): string {
  return '/';
}

export const devNull = '/dev/null';
export const tmpdir = (): string => '/tmp';

export function availableParallelism(): number {
  return 4;
}

// node:url
export function fileURLToPath(url: string | URL): string {
  return decodeURIComponent(new URL(url).pathname);
}

// node:timers/promises
interface DelayOptions {
  readonly signal?: AbortSignal | undefined;
}

export function setTimeout<T>(ms: number, value?: T, { signal }: DelayOptions = {}): Promise<T | undefined> {
  return new Promise((done, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new DOMException('The operation was aborted', 'AbortError'));
    };
    if (signal?.aborted === true) return stop();
    const timer = globalThis.setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      done(value);
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

export function setImmediate(): Promise<void> {
  return new Promise((done) => void globalThis.setTimeout(done, 0));
}

// node:string_decoder
export class StringDecoder {
  readonly #decoder = new TextDecoder('utf-8');

  write(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true });
  }

  end(): string {
    return this.#decoder.decode();
  }
}

// node:http
export function validateHeaderName(name: string): void {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new TypeError(`Invalid header name ${name}`);
}

export function validateHeaderValue(name: string, value: unknown): void {
  if (value === undefined || /[^\t\x20-\x7e\x80-\xff]/.test(String(value)))
    throw new TypeError(`Invalid character in header ${name}`);
}

// Sockets, processes, compression: fetch handles compression, and the others do not exist.
export const request: () => never = absent('A socket');
export const createServer: () => never = absent('A listening server');
export const lookup: () => never = absent('A lookup of names');
export const spawn: () => never = absent('A process');
export const createRequire: () => never = absent('A native module');
export const pipeline: () => never = absent('A stream of a file');
export const brotliDecompressSync: () => never = absent('Compression');
export const gunzipSync: () => never = absent('Compression');
export const inflateSync: () => never = absent('Compression');
export const createBrotliDecompress: () => never = absent('Compression');
export const createGunzip: () => never = absent('Compression');
export const createInflate: () => never = absent('Compression');
export const createSecureContext: () => never = absent('A certificate store');
export const rootCertificates: readonly string[] = [];
export const getCACertificates: undefined = undefined;
