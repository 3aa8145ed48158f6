/** Finds the processes of a server that left its process group (F3). */

import { descendants, type ProcessRow, processIds, processRow } from '../lib/process-table.ts';
import type { MarkedProcesses } from './marked-processes.ts';

export interface Ancestor {
  /** Process id of the server, which is also its group id. */
  readonly pid: number;
  /** The mark in its environment. */
  readonly owner: string;
  /** All processes with a mark of its host. */
  readonly marked: MarkedProcesses;
}

/**
 * Descendants are visible only while their parents run, so they are recorded at construction; a mark in the environment
 * is always visible.
 */
export class Strays {
  readonly #server: Ancestor;
  readonly #kin: readonly ProcessRow[];

  constructor(server: Ancestor) {
    this.#server = server;
    this.#kin = descendants(server.pid);
  }

  /** Returns the processes that are running now. */
  async look(): Promise<number[]> {
    const { pid, owner, marked } = this.#server;
    const found = new Set<number>();
    for (const known of this.#kin) {
      const row = processRow(known.pid);
      if (row?.startedAt === known.startedAt && !row.zombie && row.group !== pid) found.add(row.pid);
    }
    for (const each of await marked.look()) {
      if (each.owner === owner && each.group !== pid) found.add(each.pid);
    }
    return [...found];
  }
}

/** Whether a group contains only zombies, which accept signals until they are reaped. */
export function onlyZombiesIn(group: number): boolean {
  return !processIds().some((pid) => {
    const row = processRow(pid);
    return row?.group === group && !row.zombie;
  });
}
