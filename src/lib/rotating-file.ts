/** Appends to a file of bounded size: a full file is renamed to `<file>.1`, replacing the previous one. */

import { appendFileSync, renameSync, statSync } from 'node:fs';

/** Appends text; the file is readable by its owner only. Throws file system errors. */
export function appendRotating(file: string, text: string, maxBytes: number): void {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > 0 && bytes + Buffer.byteLength(text) > maxBytes) renameSync(file, `${file}.1`);
  appendFileSync(file, text, { mode: 0o600 });
}
