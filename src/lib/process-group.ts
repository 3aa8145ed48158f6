/** Signals for processes and process groups. */

import { errorCode } from './error-code.ts';

/** Sends a signal; a negative id is a group. Returns false if the process or group does not exist. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

/** Whether a process exists, including processes of other users. */
export function isAlive(pid: number): boolean {
  return sendSignal(pid, 0);
}

/**
 * Kills the group of a child that was started `detached`; on Windows, which has no groups, the child only. A group
 * exists longer than its first process, and its id is not reused while a member runs.
 */
export function killGroup(pid: number | undefined): void {
  if (pid !== undefined) sendSignal(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
}
