/** The calls that the page keeps: changed in place, because a busy gateway has thousands of them in a minute. */

import { signal } from '@preact/signals';
import type { CallReport, Progress } from './api-types.ts';

const MAX_CALLS = 10_000;
/** Calls of one request: more would block the page while they are parsed. */
const PAGE_CALLS = 1_000;
/** The log may grow by this many calls before the oldest are dropped together. */
const SLACK = 500;

export type KeptCall = { -readonly [Key in keyof CallReport]: CallReport[Key] };

/** Identifies a call in links; unique over all runs of Plugboard, unlike its id. */
export function keyOf({ key, id }: CallReport): string {
  return key ?? id;
}

export class CallLog {
  readonly pageSize: number = PAGE_CALLS;
  /** Increased by every change; components that show calls read it to be rendered again. */
  readonly version = signal(0);
  /** Number of calls without an outcome. */
  readonly running = signal(0);
  /** Oldest first. */
  #calls: KeptCall[] = [];
  readonly #byKey = new Map<string, KeptCall>();
  /** Calls of this run that have not ended, by id: events about progress have no key. */
  readonly #running = new Map<string, KeptCall>();
  readonly #lastOfSessions = new Map<string, KeptCall>();

  get all(): readonly CallReport[] {
    return this.#calls;
  }

  /** Calls that have not ended, oldest first. */
  get runningCalls(): Iterable<CallReport> {
    return this.#running.values();
  }

  /** Session → its newest call. Sessions of earlier runs may have the same id. */
  get lastOfSessions(): ReadonlyMap<string, CallReport> {
    return this.#lastOfSessions;
  }

  /** Returns a call by its key, or a running one by its id. */
  get(keyOrId: string): CallReport | undefined {
    return this.#byKey.get(keyOrId) ?? this.#running.get(keyOrId);
  }

  /** Returns the call of this page with this ref. */
  withRef(ref: string): CallReport | undefined {
    return this.#calls.findLast((call) => call.ref === ref);
  }

  replaceAll(calls: readonly CallReport[]): void {
    this.#calls = calls.map((call) => ({ ...call })).sort((a, b) => a.at - b.at);
    this.#byKey.clear();
    this.#running.clear();
    this.#lastOfSessions.clear();
    for (const call of this.#calls) this.#index(call);
    this.#changed();
  }

  /** Adds a page of calls that began before all others. */
  addOlder(calls: readonly CallReport[]): void {
    const fresh = calls.filter((call) => !this.#byKey.has(keyOf(call))).map((call) => ({ ...call }));
    const room = Math.max(0, MAX_CALLS - this.#calls.length);
    const older = fresh.slice(0, room).sort((a, b) => a.at - b.at);
    for (const call of older) this.#index(call);
    this.#calls = [...older, ...this.#calls];
    this.#changed();
  }

  get isFull(): boolean {
    return this.#calls.length >= MAX_CALLS;
  }

  begin(call: CallReport): void {
    if (this.#byKey.has(keyOf(call))) return;
    const kept: KeptCall = { ...call, at: call.at ?? Date.now() };
    this.#calls.push(kept);
    this.#index(kept);
    if (this.#calls.length > MAX_CALLS + SLACK) this.#drop(SLACK);
    this.#changed();
  }

  progress({ id, ...progress }: Progress & { readonly id: string }): void {
    const call = this.#running.get(id);
    if (call !== undefined) call.progress = progress;
    this.#changed();
  }

  end(end: CallReport): void {
    const call = this.#running.get(end.id);
    if (call !== undefined) {
      Object.assign(call, end);
      this.#running.delete(end.id);
    }
    this.#changed();
  }

  /** Resolves when the log has an outcome of this call, or after `ms`. */
  async ended(key: string, ms: number): Promise<void> {
    let stop: () => void = () => {};
    await new Promise<void>((resolve) => {
      setTimeout(resolve, ms);
      stop = this.version.subscribe(() => {
        if (this.get(key)?.outcome !== undefined) resolve();
      });
    });
    stop();
  }

  #index(call: KeptCall): void {
    this.#byKey.set(keyOf(call), call);
    if (call.outcome === undefined) this.#running.set(call.id, call);
    if (call.at >= (this.#lastOfSessions.get(call.session)?.at ?? 0))
      this.#lastOfSessions.set(call.session, call);
  }

  #drop(count: number): void {
    for (const old of this.#calls.splice(0, count)) {
      this.#byKey.delete(keyOf(old));
      if (this.#running.get(old.id) === old) this.#running.delete(old.id);
      if (this.#lastOfSessions.get(old.session) === old) this.#lastOfSessions.delete(old.session);
    }
  }

  #changed(): void {
    this.running.value = this.#running.size;
    this.version.value += 1;
  }
}
