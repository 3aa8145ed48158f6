/** The tasks of a kit server that have ended, with their results: the interface of their store, and one in memory. */

import type { Clock } from '../lib/clock.ts';

/** Results in memory, in bytes of JSON; the oldest are dropped. */
const MAX_BYTES: number = 256 * 1024 * 1024;
const MAX_TASKS = 10_000;

/** A task as a store keeps it; its values are JSON. */
export interface StoredTask {
  /** Unguessable. */
  readonly id: string;
  /** The client that may see it. */
  readonly principal: string;
  readonly tool: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  /** The last progress, or why it was cancelled. */
  readonly message?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How long it is kept after its creation. */
  readonly ttlMs: number;
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown } | undefined;
}

/** Keeps tasks that have ended. One that several processes share answers for all of them, and after a restart. */
export interface TaskStore {
  /** Stores a task; it may be dropped `ttlMs` after `createdAt`. */
  put(task: StoredTask): Promise<void>;
  /** Returns a stored task; undefined if there is none. */
  get(id: string): Promise<StoredTask | undefined>;
}

export function hasExpired({ createdAt, ttlMs }: StoredTask, now: number): boolean {
  return now >= createdAt + ttlMs;
}

interface Entry {
  readonly expiresAt: number;
  readonly text: string;
}

/** The default store: its tasks end with the process. */
export class TasksInMemory implements TaskStore {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async put(task: StoredTask): Promise<void> {
    const text = JSON.stringify(task);
    this.#remove(task.id);
    this.#entries.set(task.id, { expiresAt: task.createdAt + task.ttlMs, text });
    this.#bytes += text.length;
    const now = this.#clock.now();
    for (const [id, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#remove(id);
    for (const id of this.#entries.keys()) {
      if (this.#bytes <= MAX_BYTES && this.#entries.size <= MAX_TASKS) break;
      this.#remove(id);
    }
  }

  async get(id: string): Promise<StoredTask | undefined> {
    const entry = this.#entries.get(id);
    return entry === undefined ? undefined : JSON.parse(entry.text);
  }

  #remove(id: string): void {
    this.#bytes -= this.#entries.get(id)?.text.length ?? 0;
    this.#entries.delete(id);
  }
}
