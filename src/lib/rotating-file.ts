/** Appends to a file of bounded size: when it is full it becomes `<file>.1`, in the place of what was there before. */

import { appendFileSync, renameSync, statSync } from 'node:fs';

/** Readable by its owner only. Throws what the file system throws. */
export function appendRotating(file: string, text: string, maxBytes: number): void {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > 0 && bytes + Buffer.byteLength(text) > maxBytes) renameSync(file, `${file}.1`);
  appendFileSync(file, text, { mode: 0o600 });
}
