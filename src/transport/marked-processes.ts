/** Which processes carry a mark of this host: one look over the process table for all servers that end at that moment. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ProcessRow, processIds, processRow, startedWithPrefix } from '../lib/process-table.ts';

/** Processes that are looked at before others get their turn. */
const LOOKS_PER_TURN = 64;
/** Process ids come again: after so many looks, who was ruled out is looked at anew. */
const MAX_LOOKS_REMEMBERED = 256;

export interface MarkedProcess {
  readonly pid: number;
  readonly group: number;
  /** The whole mark, which names the server. */
  readonly owner: string;
}

/** How processes are found; a test counts what is asked of it. */
export interface ProcessTable {
  ids(): readonly number[];
  row(pid: number): ProcessRow | undefined;
  /** What follows `prefix` in its environment; null without it, undefined when that cannot be told yet. */
  mark(pid: number, prefix: string): string | null | undefined;
}

const SYSTEM_TABLE: ProcessTable = { ids: processIds, row: processRow, mark: startedWithPrefix };

/**
 * Two hundred servers that end together would each read the table of at least two hundred processes. So whoever asks
 * while a look is under way shares the next one, which sees all that existed when it was asked for.
 */
export class MarkedProcesses {
  readonly #variable: string;
  readonly #host: string;
  readonly #table: ProcessTable;
  readonly #strangers = new Set<number>();
  readonly #marked = new Map<number, { readonly startedAt: number; readonly owner: string }>();
  #oldest = Number.POSITIVE_INFINITY;
  #endings = 0;
  #looks = 0;
  #underWay: Promise<readonly MarkedProcess[]> | undefined;
  #next: Promise<readonly MarkedProcess[]> | undefined;

  /** The mark is in `variable`, and begins with `host`. */
  constructor(variable: string, host: string, table: ProcessTable = SYSTEM_TABLE) {
    this.#variable = variable;
    this.#host = host;
    this.#table = table;
  }

  /** A server was started then: what is older than all of them is nobody's doing here. */
  since(startedAt: number): void {
    if (startedAt >= this.#oldest) return;
    this.#oldest = startedAt;
    this.#strangers.clear();
  }

  /** Between this and the call of what it returns, what was learnt is remembered: it only holds for a while. */
  begin(): () => void {
    this.#endings += 1;
    return () => {
      this.#endings -= 1;
      if (this.#endings > 0) return;
      this.#strangers.clear();
      this.#marked.clear();
    };
  }

  /** Those that live now. */
  look(): Promise<readonly MarkedProcess[]> {
    if (this.#underWay === undefined) return this.#start();
    this.#next ??= this.#underWay.then(() => this.#start());
    return this.#next;
  }

  #start(): Promise<readonly MarkedProcess[]> {
    this.#next = undefined;
    this.#underWay = this.#lookThrough().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #lookThrough(): Promise<readonly MarkedProcess[]> {
    this.#looks += 1;
    if (this.#looks % MAX_LOOKS_REMEMBERED === 0) this.#strangers.clear();
    const found: MarkedProcess[] = [];
    const living = new Set<number>();
    let read = 0;
    for (const pid of this.#table.ids()) {
      if (this.#strangers.has(pid)) continue;
      read += 1;
      if (read % LOOKS_PER_TURN === 0) await nextTurn();
      const row = this.#table.row(pid);
      if (row === undefined || row.zombie) continue;
      const owner = this.#ownerOf(row);
      if (owner === null) this.#strangers.add(pid);
      else if (owner !== undefined) {
        living.add(pid);
        this.#marked.set(pid, { startedAt: row.startedAt, owner });
        found.push({ pid, group: row.group, owner });
      }
    }
    for (const pid of this.#marked.keys()) if (!living.has(pid)) this.#marked.delete(pid);
    return found;
  }

  /** A process keeps its mark, also when it clears its environment later. */
  #ownerOf(row: ProcessRow): string | null | undefined {
    if (row.startedAt < this.#oldest) return null;
    const known = this.#marked.get(row.pid);
    if (known?.startedAt === row.startedAt) return known.owner;
    const rest = this.#table.mark(row.pid, `${this.#variable}=${this.#host}`);
    return typeof rest === 'string' ? `${this.#host}${rest}` : rest;
  }
}
