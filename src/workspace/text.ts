/** Bytes of a file as text: what counts as binary, and how much of it is taken at once. */

import { readSync } from 'node:fs';
import type { OpenFile } from './file.ts';
import { badPath } from './refusals.ts';

/** A NUL byte in this much of the beginning makes a file binary, as for git. */
const SNIFFED_BYTES = 8_000;
/** The largest file that is edited or searched whole. */
export const MAX_WHOLE_BYTES: number = 16 * 1024 * 1024;

export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, SNIFFED_BYTES).includes(0);
}

export function binaryFile(shown: string, size: number): Error {
  return badPath(
    `${shown} is a binary file (${size} bytes) and is not shown.`,
    'Only text in UTF-8 is read and edited here.',
  );
}

/** The whole file; undefined when it is too large. */
export function readWhole({ fd, stats }: OpenFile): Buffer | undefined {
  if (stats.size > MAX_WHOLE_BYTES) return undefined;
  // One byte more, to see a file that grows. Files of /proc and the like say that they are empty.
  const buffer = Buffer.allocUnsafe(stats.size === 0 ? MAX_WHOLE_BYTES : stats.size + 1);
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(fd, buffer, length, buffer.length - length, length);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

/** Text that can be written back byte for byte; undefined when it is not UTF-8. */
export function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
