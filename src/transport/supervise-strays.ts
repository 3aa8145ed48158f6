/** Finds the processes of a server that left its process group (F3). */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { descendants, type ProcessRow, processIds, processRow, startedWith } from '../lib/process-table.ts';
import { OWNER_VARIABLE } from './reaper.ts';

/** Processes that are looked at before others get their turn. */
const LOOKS_PER_TURN = 64;

export interface Ancestor {
  /** Process id of the server, which is the id of its group too. */
  readonly pid: number;
  /** The value of OWNER_VARIABLE it was started with. */
  readonly owner: string;
  /** When it started, as the process table tells it; what is older is none of its doing. */
  readonly startedAt: number;
}

/**
 * Kin is only visible while the parents live, so it is written down when this is made; a mark in the environment
 * is visible for ever. Each look reads only those it has not ruled out, so all but the first are cheap.
 */
export class Strays {
  readonly #server: Ancestor;
  readonly #kin: readonly ProcessRow[];
  readonly #strangers = new Set<number>();

  constructor(server: Ancestor) {
    this.#server = server;
    this.#kin = descendants(server.pid);
  }

  /** Those that live now. */
  async look(): Promise<number[]> {
    const found = new Set<number>();
    for (const known of this.#kin) {
      const row = processRow(known.pid);
      if (row?.startedAt === known.startedAt && this.#isOutside(row)) found.add(row.pid);
    }
    let looks = 0;
    for (const pid of processIds()) {
      if (this.#strangers.has(pid)) continue;
      looks += 1;
      if (looks % LOOKS_PER_TURN === 0) await nextTurn();
      if (this.#isMarked(pid)) found.add(pid);
    }
    return [...found];
  }

  #isMarked(pid: number): boolean {
    const row = processRow(pid);
    // A member of the group may still leave it, so it is not ruled out.
    if (!row || row.group === this.#server.pid || row.zombie) return false;
    const marked =
      row.startedAt >= this.#server.startedAt && startedWith(pid, OWNER_VARIABLE, this.#server.owner);
    if (marked === false) this.#strangers.add(pid);
    return marked === true;
  }

  #isOutside(row: ProcessRow): boolean {
    return !row.zombie && row.group !== this.#server.pid;
  }
}

/** Whether all that is left of a group are zombies, which answer to signals until somebody reaps them. */
export function onlyZombiesIn(group: number): boolean {
  return !processIds().some((pid) => {
    const row = processRow(pid);
    return row?.group === group && !row.zombie;
  });
}
