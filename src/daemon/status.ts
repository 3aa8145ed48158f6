/** What the daemon does right now, with what each server's processes take. */

import { readFileSync } from 'node:fs';
import { descendants } from '../lib/process-table.ts';
import type { HostUse } from '../remote/report.ts';
import type { SharedHost } from './hosts.ts';

const BYTES_PER_KB = 1024;

export function useOf({ cwd, users, host }: SharedHost): HostUse {
  const servers = host.servers().map(({ name, status, pid, ownPids = [] }) => {
    const started = [...(pid === undefined ? [] : [pid]), ...ownPids];
    if (started.length === 0) return { name, status };
    const pids = started.flatMap((each) => [each, ...descendants(each).map((row) => row.pid)]);
    const which = pid === undefined ? {} : { pid };
    return { name, status, ...which, processes: pids.length, ...bytesOf(pids) };
  });
  return { cwd, sessions: users, servers };
}

/** Nothing where the system does not tell. */
export function bytesOf(pids: readonly number[]): { readonly bytes?: number } {
  const each = pids.map(proportionalBytes);
  const known = each.filter((bytes) => bytes !== undefined);
  return known.length === 0 ? {} : { bytes: known.reduce((sum, bytes) => sum + bytes, 0) };
}

function proportionalBytes(pid: number): number | undefined {
  try {
    const found = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
    return found === null ? undefined : Number(found[1]) * BYTES_PER_KB;
  } catch {
    return undefined; // gone, or not Linux
  }
}
