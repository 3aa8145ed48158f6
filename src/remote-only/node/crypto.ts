/** `node:crypto` for a build without Node: synchronous hashes, randomness from the platform. */

import { absent } from './absent.ts';
import { Buffer } from './buffer.ts';

interface Hash {
  update(data: string | Uint8Array): Hash;
  digest(): Buffer;
  digest(encoding: 'hex' | 'base64' | 'base64url'): string;
}

/** Always SHA-256: hashes here are internal keys, and none leaves this process. */
export function createHash(_algorithm: string): Hash {
  const parts: Uint8Array[] = [];
  function digest(): Buffer;
  function digest(encoding: 'hex' | 'base64' | 'base64url'): string;
  function digest(encoding?: 'hex' | 'base64' | 'base64url'): Buffer | string {
    const bytes = Buffer.from(sha256(Buffer.concat(parts)));
    return encoding === undefined ? bytes : bytes.toString(encoding);
  }
  const hash: Hash = {
    update(data) {
      parts.push(typeof data === 'string' ? Buffer.from(data) : data);
      return hash;
    },
    digest,
  };
  return hash;
}

export function randomBytes(size: number): Buffer {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(size)));
}

export function randomUUID(): string {
  return crypto.randomUUID();
}

/** The time depends on the length only. */
export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < a.length; at++) difference |= (a[at] ?? 0) ^ (b[at] ?? 0);
  return difference === 0;
}

export const createPrivateKey: () => never = absent('Keys of clients');
export const sign: () => never = absent('Keys of clients');

const K: Uint32Array = primes(64, (root) => Math.cbrt(root));
const START: Uint32Array = primes(8, (root) => Math.sqrt(root));

/** The first 32 bits of the fractional parts of roots of the first primes: the constants of the standard. */
function primes(count: number, root: (prime: number) => number): Uint32Array {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return Uint32Array.from(found, (prime) => Math.floor((root(prime) % 1) * 2 ** 32));
}

/** Synchronous SHA-256, for keys that are needed at once: `crypto.subtle` is asynchronous. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const hash = START.slice();
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) block(view, at, words, hash);
  const result = new DataView(new ArrayBuffer(32));
  hash.forEach((word, index) => {
    result.setUint32(index * 4, word);
  });
  return new Uint8Array(result.buffer);
}

function block(view: DataView, at: number, words: Uint32Array, hash: Uint32Array): void {
  const w = (index: number): number => words[index] as number;
  for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + i * 4);
  for (let i = 16; i < 64; i++) {
    const s0 = turn(w(i - 15), 7) ^ turn(w(i - 15), 18) ^ (w(i - 15) >>> 3);
    const s1 = turn(w(i - 2), 17) ^ turn(w(i - 2), 19) ^ (w(i - 2) >>> 10);
    words[i] = w(i - 16) + s0 + w(i - 7) + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let i = 0; i < 64; i++) {
    const first =
      h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + (K[i] as number) + w(i);
    const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, index) => {
    hash[index] = (hash[index] as number) + value;
  });
}

function turn(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
