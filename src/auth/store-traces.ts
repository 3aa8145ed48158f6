/** Keeps locks, notes and pending logins for a host with a credential store: no files, pending logins in the store. */

import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { Emitter } from '../lib/emitter.ts';
import { isRecord, parseJson } from '../lib/json.ts';
import type { CredentialStore } from '../secrets/credential-store.ts';
import type { Change, LoginTraces, NoteKind } from './login-traces.ts';
import type { PendingLogin } from './pending-login.ts';

/** Limit on pending logins per server; the oldest are dropped. */
const MAX_PENDING = 16;

export class StoreTraces implements LoginTraces {
  readonly announces = false;
  readonly #store: CredentialStore;
  readonly #clock: Clock;
  readonly #notes = new Map<string, string>();
  readonly #changes = new Emitter<Record<string, undefined>>();
  /** The last queued work for each key in this host. */
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(store: CredentialStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  mayHave(): boolean {
    return true;
  }

  loginStamp(): undefined {
    return undefined;
  }

  async locked<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#queues.get(key) ?? Promise.resolve();
    // Checked again once the lock is held: the caller may have cancelled while waiting.
    const wanted = (): Promise<T> => {
      if (signal?.aborted !== true) return work();
      return Promise.reject(new PlugboardError('CANCELLED', 'Cancelled while waiting for a login'));
    };
    const mine = before.then(() =>
      this.#store.lock === undefined || signal?.aborted === true
        ? wanted()
        : this.#store.lock(`lock:${key}`, wanted),
    );
    const settled = mine.catch(() => undefined);
    this.#queues.set(key, settled);
    try {
      return await mine;
    } finally {
      if (this.#queues.get(key) === settled) this.#queues.delete(key);
    }
  }

  /** Notifies this process. Others read the store periodically and when a server refuses their token. */
  stamp(key: string, change: Change): Promise<void> {
    const kinds: readonly Change[] = change === 'login' ? ['renewal', 'login'] : ['renewal'];
    for (const kind of kinds) this.#changes.emit(`${kind} ${key}`, undefined);
    return Promise.resolve();
  }

  watch(key: string, change: Change, changed: () => void): () => void {
    return this.#changes.on(`${change} ${key}`, changed);
  }

  note(key: string, kind: NoteKind, text: string): Promise<void> {
    this.#notes.set(`${kind} ${key}`, text);
    return Promise.resolve();
  }

  noteOf(key: string, kind: NoteKind): Promise<string | undefined> {
    return Promise.resolve(this.#notes.get(`${kind} ${key}`));
  }

  forgetNote(key: string, kind: NoteKind): Promise<void> {
    this.#notes.delete(`${kind} ${key}`);
    return Promise.resolve();
  }

  async savePending(pending: PendingLogin): Promise<void> {
    await this.#editPending(pending.account, (all) => [...all, pending].slice(-MAX_PENDING));
  }

  async takePending(state: string, account: string): Promise<PendingLogin | undefined> {
    let taken: PendingLogin | undefined;
    await this.#editPending(account, (all) => {
      taken = all.find((pending) => pending.state === state);
      return all.filter((pending) => pending !== taken);
    });
    return taken;
  }

  async dropPending(state: string, account: string): Promise<void> {
    await this.takePending(state, account);
  }

  close(): void {
    this.#changes.clear();
  }

  /** Edits the pending logins and drops expired ones, since the store cannot be searched for them. */
  async #editPending(
    account: string,
    edit: (all: readonly PendingLogin[]) => readonly PendingLogin[],
  ): Promise<void> {
    const key = `pending:${account}`;
    await this.locked(key, async () => {
      const text = (await this.#store.get(key)) ?? '[]';
      const now = this.#clock.now();
      const before = parsePending(text);
      const after = edit(before.filter(({ expiresAt }) => now < expiresAt));
      if (after.length > 0) await this.#store.set(key, JSON.stringify(after));
      else if (before.length > 0) await this.#store.delete(key);
    });
  }
}

/** Checks only the version, because only this file writes the value. */
function parsePending(text: string): readonly PendingLogin[] {
  const value = parseJson(text);
  const all: readonly unknown[] = Array.isArray(value) ? value : [];
  return all.filter((one): one is PendingLogin => isRecord(one) && one['version'] === 1);
}
