/** Reports what the daemon runs: the memory of each server, and why a second process of it exists. */

import { readFileSync } from 'node:fs';
import type { DedicatedReason } from '../../call/session-router.ts';
import type { Host } from '../../host/host.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { descendants } from '../../lib/process-table.ts';
import type { HostUse, ProcessCopy, ServerUse } from '../protocol/daemon-messages.ts';
import type { SharedHost } from './hosts.ts';
import type { ProcessSharing } from './process-sharing.ts';
import { sessionDifferences } from './session-environment.ts';

const BYTES_PER_KB = 1024;

const DEDICATED: Readonly<Record<DedicatedReason, Omit<ProcessCopy, 'pid'>>> = {
  state: {
    reason: 'the server keeps state, so each session has its own process',
    hint: 'If its calls do not depend on each other, set "shared": true in its entry.',
  },
  roots: { reason: 'the first process has the roots of another session' },
  busy: { reason: 'the first process was busy with a call of another session' },
};

const HINTS: Readonly<Record<string, string>> = {
  program: 'PATH leads to another program in this session; give the full path as "command".',
  PATH: 'PATH leads to another program in this session; give the full path as "command".',
  folder: 'The sessions work in different folders; set "cwd" in its entry.',
};

export function useOf(
  { shared, host }: { readonly shared: SharedHost; readonly host: Host },
  sharing: ProcessSharing,
  first: SharedHost = shared,
): HostUse {
  return {
    cwd: shared.cwd,
    sessions: shared.sessions,
    ...(first === shared ? {} : { differs: differencesOf(first, shared) }),
    servers: host.servers().map(({ name, status, pid, dedicated = [] }): ServerUse => {
      const started = [...(pid === undefined ? [] : [pid]), ...dedicated.map((copy) => copy.pid)];
      if (started.length === 0) return { name, status };
      const pids = started.flatMap((each) => [each, ...descendants(each).map((row) => row.pid)]);
      const apart = pid === undefined ? undefined : sharing.whyApart(shared, name);
      const copies = [
        ...(pid === undefined || apart === undefined ? [] : [{ pid, ...differs(apart) }]),
        ...dedicated.map((copy) => ({ pid: copy.pid, ...DEDICATED[copy.reason] })),
      ];
      return {
        name,
        status,
        ...(pid === undefined ? {} : { pid }),
        processes: pids.length,
        ...bytesOf(pids),
        ...(copies.length === 0 ? {} : { copies }),
      };
    }),
  };
}

/** Returns why two sets of servers of one folder are separate. Never the values of variables. */
function differencesOf(first: SharedHost, { servers, workspace, env, config }: SharedHost): string[] {
  return [
    ...sessionDifferences(config.servers, first.env, env),
    ...(canonicalJson(first.servers ?? {}) === canonicalJson(servers ?? {}) ? [] : [OWN_SERVERS]),
    ...(first.workspace === workspace ? [] : [WORKSPACE]),
  ];
}

const OWN_SERVERS = 'servers given with the session';
const WORKSPACE = 'the built-in workspace server';

/** `names`: the differences from the process that ran first. */
function differs(names: readonly string[]): Omit<ProcessCopy, 'pid'> {
  if (names.length === 0) return { reason: 'it was started before the other process could be used' };
  const [only, ...others] = names;
  const hint = only === undefined || others.length > 0 ? undefined : HINTS[only];
  return {
    reason: `another session has a different ${names.join(', ')}`,
    hint: hint ?? `Give every agent the same ${names.join(', ')}, or fix it in the server's entry.`,
  };
}

/** Returns an empty object if the system does not report it. */
export function bytesOf(pids: readonly number[]): { readonly bytes?: number } {
  const known = pids.map(proportionalBytes).filter((bytes) => bytes !== undefined);
  return known.length === 0 ? {} : { bytes: known.reduce((sum, bytes) => sum + bytes, 0) };
}

function proportionalBytes(pid: number): number | undefined {
  try {
    const found = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
    return found === null ? undefined : Number(found[1]) * BYTES_PER_KB;
  } catch {
    return undefined; // Ended, or not Linux.
  }
}
