/** Processes of this machine, as /proc lists them. */

import { readdirSync, readFileSync } from 'node:fs';

/** False also for a zombie, which has ended and was not collected yet. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Ids of running processes, by their command line. */
export function processes(isMatch: (argv: readonly string[], pid: number) => boolean): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isRunning(pid))
    .filter((pid) => {
      const argv = readOrEmpty(`/proc/${pid}/cmdline`).split('\0');
      return argv[0] !== '' && isMatch(argv, pid);
    });
}

/** Variables as `NAME=value`; empty if the process has ended. */
export function environmentOf(pid: number): readonly string[] {
  return readOrEmpty(`/proc/${pid}/environ`).split('\0');
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
