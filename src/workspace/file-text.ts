/** Reads files as text: detection of binary files, and size limits. */

import { readSync } from 'node:fs';
import { attempt } from '../lib/attempt.ts';
import type { OpenFile } from './open-file.ts';
import { badPath } from './workspace-errors.ts';

/** A NUL byte within this many first bytes marks a file as binary, as in git. */
const SNIFFED_BYTES = 8_000;
/** The largest file that is edited or searched as a whole. */
export const MAX_WHOLE_BYTES: number = 16 * 1024 * 1024;

export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, SNIFFED_BYTES).includes(0);
}

export function binaryFile(shown: string, size: number): Error {
  return badPath(
    `${shown} is a binary file (${size} bytes) and is not shown`,
    'Only text in UTF-8 is read and edited here.',
  );
}

/** Reads the whole file; undefined if it is too large. */
export function readWhole({ fd, stats }: OpenFile): Buffer | undefined {
  if (stats.size > MAX_WHOLE_BYTES) return undefined;
  // One extra byte detects a file that grows. Files in /proc report a size of 0.
  const buffer = Buffer.allocUnsafe(stats.size === 0 ? MAX_WHOLE_BYTES : stats.size + 1);
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(fd, buffer, length, buffer.length - length, length);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

/** Decodes text that can be written back byte for byte; undefined if it is not UTF-8. */
export function decode(bytes: Uint8Array): string | undefined {
  return attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), undefined);
}
