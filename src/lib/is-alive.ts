/** Checks whether a process exists, including processes of other users. */

import { errorCode } from './error-code.ts';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}
