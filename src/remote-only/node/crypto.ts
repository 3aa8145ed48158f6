/** `node:crypto` for a build without Node: synchronous hashes, randomness from the platform. */

import { absent } from './absent.ts';
import { Buffer } from './buffer.ts';
import { sha256 } from './sha.ts';

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

export const createPrivateKey: () => never = absent('Keys of clients');
export const sign: () => never = absent('Keys of clients');
export const timingSafeEqual: () => never = absent('timingSafeEqual');
