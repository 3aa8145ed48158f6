/**
 * Finds the processes that carry this host's mark, with one scan of the process table for all servers that end
 * together.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ProcessRow, processIds, processRow, startedWithPrefix } from '../lib/process-table.ts';

/** Processes that are checked before the event loop continues. */
const LOOKS_PER_TURN = 64;
/** Process ids are reused: after this many scans, excluded ids are checked again. */
const MAX_LOOKS_REMEMBERED = 256;

export interface MarkedProcess {
  readonly pid: number;
  readonly group: number;
  /** The complete mark, which identifies the server. */
  readonly owner: string;
}

/** Access to the process table; replaced in tests to count calls. */
export interface ProcessTable {
  ids(): readonly number[];
  row(pid: number): ProcessRow | undefined;
  /**
   * Returns the text after `prefix` in its environment; null without the prefix, undefined if it cannot be read yet.
   */
  mark(pid: number, prefix: string): string | null | undefined;
}

const SYSTEM_TABLE: ProcessTable = { ids: processIds, row: processRow, mark: startedWithPrefix };

/**
 * Two hundred servers that end together would each scan a table of at least two hundred processes. Calls during a scan
 * therefore share the next scan, which sees all processes that existed at the time of the call.
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

  /** The mark is the value of `variable` and starts with `host`. */
  constructor(variable: string, host: string, table: ProcessTable = SYSTEM_TABLE) {
    this.#variable = variable;
    this.#host = host;
    this.#table = table;
  }

  /** Records the start time of a server: processes older than all servers are not ours. */
  since(startedAt: number): void {
    if (startedAt >= this.#oldest) return;
    this.#oldest = startedAt;
    this.#strangers.clear();
  }

  /** Caches scan results until the returned function is called: they are valid only for a short time. */
  begin(): () => void {
    this.#endings += 1;
    return () => {
      this.#endings -= 1;
      if (this.#endings > 0) return;
      this.#strangers.clear();
      this.#marked.clear();
    };
  }

  /** Returns the marked processes that are running now. */
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

  /** A process keeps its mark even if it clears its environment later. */
  #ownerOf(row: ProcessRow): string | null | undefined {
    if (row.startedAt < this.#oldest) return null;
    const known = this.#marked.get(row.pid);
    if (known?.startedAt === row.startedAt) return known.owner;
    const rest = this.#table.mark(row.pid, `${this.#variable}=${this.#host}`);
    return typeof rest === 'string' ? `${this.#host}${rest}` : rest;
  }
}
