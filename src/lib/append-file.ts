/** Appends bytes to a file that only its owner can read. */

import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './error-code.ts';
import { makeFolder } from './make-folder.ts';

/** Appends to the file and returns its size; creates the folder if it is missing. */
export async function appendTo(file: string, bytes: Uint8Array): Promise<number> {
  // Opened each time: another process may have rotated the file since.
  const openFile = (): Promise<FileHandle> => open(file, 'a', 0o600);
  const handle = await openFile().catch(async (error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    await makeFolder(dirname(file), 0o700);
    return openFile();
  });
  try {
    await handle.appendFile(bytes);
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}
