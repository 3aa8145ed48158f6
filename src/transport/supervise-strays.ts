/** Finds the processes of a server that left its process group (F3). */

import { descendants, type ProcessRow, processIds, processRow } from '../lib/process-table.ts';
import type { MarkedProcesses } from './marked-processes.ts';

export interface Ancestor {
  /** Process id of the server, which is the id of its group too. */
  readonly pid: number;
  /** The mark it was started with. */
  readonly owner: string;
  /** Whoever else carries a mark of its host. */
  readonly marked: MarkedProcesses;
}

/**
 * Kin is only visible while the parents live, so it is written down when this is made; a mark in the environment
 * is visible for ever.
 */
export class Strays {
  readonly #server: Ancestor;
  readonly #kin: readonly ProcessRow[];

  constructor(server: Ancestor) {
    this.#server = server;
    this.#kin = descendants(server.pid);
  }

  /** Those that live now. */
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

/** Whether all that is left of a group are zombies, which answer to signals until somebody reaps them. */
export function onlyZombiesIn(group: number): boolean {
  return !processIds().some((pid) => {
    const row = processRow(pid);
    return row?.group === group && !row.zombie;
  });
}
