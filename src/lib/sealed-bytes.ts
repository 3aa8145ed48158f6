/** Encrypts bytes with a key of 32 bytes, bound to a context (AES-256-GCM); keys of a home are files of their owner. */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { updateFile } from './locked-file.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const KEY = /^[\w-]{43}$/;
const FILE_MODE = 0o600;

/** Encrypts bytes; they can be opened with the same context only. */
export function sealBytes(key: Uint8Array, bytes: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** Returns undefined for bytes that were changed, or sealed with another key or context. */
export function openBytes(key: Uint8Array, sealed: Uint8Array, context: string): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** Reads the key in a file, or creates one; two processes that start at once get the same. */
export async function readKeyFile(file: string, lockDir: string): Promise<Uint8Array> {
  let key = (await readFile(file, 'utf8').catch(() => '')).trim();
  // The file is replaced atomically: a readable key is complete, and needs no lock.
  if (!KEY.test(key))
    await updateFile(
      file,
      (text) => {
        key = (text ?? '').trim();
        if (KEY.test(key)) return undefined;
        // An unreadable key only ends what was sealed with it.
        key = randomBytes(KEY_BYTES).toString('base64url');
        return `${key}\n`;
      },
      { lockDir, mode: FILE_MODE },
    );
  return Buffer.from(key, 'base64url');
}
