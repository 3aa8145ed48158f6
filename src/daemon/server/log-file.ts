/** The daemon's log: a file of bounded size without secrets. */

import { appendRotating } from '../../lib/rotating-file.ts';
import { clean } from '../../policy/clean.ts';

const MAX_BYTES: number = 1024 * 1024;
const MAX_LINE_CHARS = 4_096;

export interface LogFile {
  write(message: string): void;
}

export function openLogFile(file: string, now: () => number): LogFile {
  return {
    write(message) {
      const text = clean(message, { multiline: false, max: MAX_LINE_CHARS });
      try {
        appendRotating(file, `${new Date(now()).toISOString()} ${process.pid} ${text}\n`, MAX_BYTES);
      } catch {
        // The home is gone, or the disk is full: logging errors must not end sessions.
      }
    },
  };
}
