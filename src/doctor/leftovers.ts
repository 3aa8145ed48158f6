/** Finds server processes whose host has exited; there should be none, even if the host was killed. */

import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { hasProcessTable, processIds, processRow } from '../lib/process-table.ts';
import { OWNER_VARIABLE } from '../transport/reaper.ts';
import { type Check, plural } from './check.ts';

/** Processes other than init that adopt orphaned children. */
const FOSTERS: ReadonlySet<string> = new Set(
  'systemd init tini docker-init dumb-init catatonit s6-svscan runit bwrap'.split(' '),
);
const INIT = 1;
const MAX_SHOWN = 10;
/** How long to wait for the reaper of a killed host, which sends SIGTERM first and kills after two seconds. */
const REAPER_MS = 3_000;
const LOOK_AGAIN_MS = 100;
const MARK = new RegExp(`(?:^|\\0)${OWNER_VARIABLE}=([0-9a-f-]+)\\.`);

export async function checkLeftovers(): Promise<Check> {
  if (!hasProcessTable)
    return { id: 'leftovers', ok: true, message: 'Leftover processes can be looked for on Linux only' };
  let orphans = orphanedProcesses();
  const until = Date.now() + REAPER_MS;
  while (orphans.length > 0 && Date.now() < until) {
    await delay(LOOK_AGAIN_MS);
    orphans = orphanedProcesses();
  }
  if (orphans.length === 0) return { id: 'leftovers', ok: true, message: 'No orphaned server processes' };
  const shown = orphans.slice(0, MAX_SHOWN).join(' ');
  return {
    id: 'leftovers',
    ok: false,
    message: `${plural(orphans.length, 'process')} of servers without a host: ${shown}`,
    hint: `Look at them with ps, and end them: kill ${shown}`,
  };
}

/** Returns the marked processes of every host whose processes have all been adopted. */
function orphanedProcesses(): number[] {
  const marked = new Map<number, string>();
  for (const pid of processIds()) {
    const host = hostOf(pid);
    if (host !== undefined) marked.set(pid, host);
  }
  const alive = new Set<string>();
  for (const [pid, host] of marked) {
    const row = processRow(pid);
    if (row !== undefined && !marked.has(row.parent) && !isFoster(row.parent)) alive.add(host);
  }
  return [...marked].flatMap(([pid, host]) =>
    alive.has(host) || pid === process.pid || processRow(pid)?.zombie !== false ? [] : [pid],
  );
}

function isFoster(pid: number): boolean {
  if (pid <= INIT) return true;
  try {
    return FOSTERS.has(readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
  } catch {
    return true; // exited: its children are being adopted
  }
}

function hostOf(pid: number): string | undefined {
  try {
    return MARK.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1];
  } catch {
    return undefined; // exited, or another user's process
  }
}
