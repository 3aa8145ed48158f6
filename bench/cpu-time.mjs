/** CPU time of another process, as /proc counts it. */

import { readdirSync, readFileSync } from 'node:fs';

/** Nanoseconds on a processor of all threads of a process. */
export function cpuNs(pid) {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
    .reduce((sum, each) => sum + each, 0);
}
