/** The daemon's log: a file of bounded size that holds no secret. */

import { appendFileSync, renameSync, statSync } from 'node:fs';
import { clean } from '../../policy/clean.ts';

const MAX_BYTES: number = 1024 * 1024;
const MAX_LINE_CHARS = 4_096;

export interface LogFile {
  write(message: string): void;
}

/** When it is full it becomes `<file>.1`, in the place of what was there before. */
export function openLogFile(file: string, now: () => number): LogFile {
  let bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return {
    write(message) {
      const text = clean(message, { multiline: false, max: MAX_LINE_CHARS });
      const line = `${new Date(now()).toISOString()} ${process.pid} ${text}\n`;
      try {
        if (bytes + line.length > MAX_BYTES) {
          renameSync(file, `${file}.1`);
          bytes = 0;
        }
        appendFileSync(file, line, { mode: 0o600 });
        bytes += Buffer.byteLength(line);
      } catch {
        // The home is gone, or the disk is full: a log is not worth the sessions.
      }
    },
  };
}
