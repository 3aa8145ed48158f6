/** Adds time limits to an application's credential store: errors and timeouts become STORE_FAILED. */

import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { within } from '../lib/within.ts';
import type { CredentialStore } from './credential-store.ts';

/** Timeout of `get`, `set` and `delete`. */
const ANSWER_LIMIT_MS = 10_000;
/** Timeout for the lock, which another process may hold while it renews a login. */
const LOCK_LIMIT_MS = 30_000;

export interface StoreBounds {
  readonly clock: Clock;
  /** Aborted when the host is closed: no reads or waits for locks after that. */
  readonly leave: AbortSignal;
  /** Receives the store's error message; errors to callers only have it as their cause. */
  readonly report: (message: string) => void;
}

type Method = 'get' | 'set' | 'delete' | 'lock';

const FAILED: Readonly<Record<Method, string>> = {
  get: 'The credential store could not be read.',
  set: 'The credential store could not be written.',
  delete: 'The credential store could not be written.',
  lock: 'The lock of the credential store failed.',
};

export function boundedStore(store: CredentialStore, bounds: StoreBounds): CredentialStore {
  const bounded = new BoundedStore(store, bounds);
  const plain: CredentialStore = {
    get: (key) => bounded.ask('get', () => store.get(key)),
    set: (key, value) => bounded.ask('set', () => store.set(key, value)),
    delete: (key) => bounded.ask('delete', () => store.delete(key)),
  };
  return store.lock === undefined ? plain : { ...plain, lock: (key, work) => bounded.lock(key, work) };
}

class BoundedStore {
  readonly #store: CredentialStore;
  readonly #bounds: StoreBounds;

  constructor(store: CredentialStore, bounds: StoreBounds) {
    this.#store = store;
    this.#bounds = bounds;
  }

  async ask<T>(method: Method, start: () => T | PromiseLike<T>): Promise<T> {
    if (method === 'get' && this.#bounds.leave.aborted) throw closed();
    return this.#within(method, ANSWER_LIMIT_MS, this.#answer(method, start));
  }

  /** If the lock times out, the work is never started later, because its caller already received an error. */
  async lock<T>(key: string, work: () => Promise<T>): Promise<T> {
    let running: Promise<T> | undefined;
    let isGivenUp = false;
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const locked = this.#locked(key, () => {
      if (isGivenUp) return Promise.reject(new Error('no one waits for this lock any longer'));
      running ??= work();
      begin();
      return running;
    });
    locked.catch(() => undefined);
    try {
      await this.#within('lock', LOCK_LIMIT_MS, Promise.race([begun, locked]));
    } catch (error) {
      isGivenUp = true;
      throw error;
    }
    if (running === undefined) throw this.#failed('lock', 'it settled without running the work');
    const result = await running;
    // If the lock is a transaction, it may fail at the end and lose the written values.
    await this.#within('lock', ANSWER_LIMIT_MS, locked);
    return result;
  }

  /** Settles with the lock. An error of the work itself is passed to its caller and is not a failure of the lock. */
  async #locked<T>(key: string, work: () => Promise<T>): Promise<void> {
    let failedWork: Promise<boolean> = Promise.resolve(false);
    try {
      await this.#store.lock?.(key, () => {
        const running = work();
        failedWork = running.then(
          () => false,
          () => true,
        );
        return running;
      });
    } catch (error) {
      if (!(await failedWork)) throw this.#failed('lock', error);
    }
  }

  async #answer<T>(method: Method, start: () => T | PromiseLike<T>): Promise<T> {
    try {
      return await start();
    } catch (error) {
      throw this.#failed(method, error);
    }
  }

  /** Writes are not cancelled when the host is closed, because a renewed token would be lost. */
  #within<T>(method: Method, ms: number, work: Promise<T>): Promise<T> {
    const isWrite = method === 'set' || method === 'delete';
    return within(work, {
      clock: this.#bounds.clock,
      ms,
      late: () => this.#failed(method, `no answer within ${ms / 1000} s`),
      signal: isWrite ? undefined : this.#bounds.leave,
      cancelled: closed,
    });
  }

  #failed(method: Method, cause: unknown): PlugboardError {
    this.#bounds.report(`the credential store failed, ${method}(): ${String(cause)}`);
    return new PlugboardError('STORE_FAILED', FAILED[method], {
      hint: 'Try again in a moment; the log has what the store said.',
      cause,
    });
  }
}

function closed(): PlugboardError {
  return new PlugboardError('CANCELLED', 'The host was closed');
}
