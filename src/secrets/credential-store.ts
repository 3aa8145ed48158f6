/** Interface for credentials stored by the application instead of the keyring: its own database, one store per user. */

import type { SecretStore } from './store.ts';

type Awaitable<T> = T | Promise<T>;

/**
 * Stores the credentials of one user: logins with their tokens, client secrets, answers to `${input:…}`, and logins in
 * progress. Values are texts that contain secrets; encrypt them if needed. Keys are short, contain no secrets, and are
 * the same in every process.
 *
 * @example
 * const row = (key) => ({ user: 'ada', key });
 * const credentials = {
 *   get: async (key) => (await db.findOne(row(key)))?.value,
 *   set: (key, value) => db.upsert(row(key), { value }),
 *   delete: (key) => db.remove(row(key)),
 *   lock: (key, work) => db.withAdvisoryLock(`ada:${key}`, work),
 * };
 */
export interface CredentialStore {
  /** Returns the value last stored by any process; undefined or null if there is none. */
  get(key: string): Awaitable<string | null | undefined>;
  /** Replaces the value atomically: a reader sees the old or the new value. */
  set(key: string, value: string): Awaitable<unknown>;
  /** Deletes the value of a key, if there is one. */
  delete(key: string): Awaitable<unknown>;
  /**
   * Runs `work` while no other process runs work for the same key, and settles with its result. Tokens are renewed
   * under this lock, so that a refresh token is used only once. Without it, only the calls of one host exclude each
   * other.
   */
  lock?<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** Adapts a `CredentialStore` to the `SecretStore` interface. */
export function secretsIn(store: CredentialStore): SecretStore {
  const get = async (key: string): Promise<string | undefined> => (await store.get(key)) ?? undefined;
  return {
    get,
    place: async (key) => ((await get(key)) === undefined ? undefined : 'store'),
    async set(key, value) {
      await store.set(key, value);
      return 'store';
    },
    async delete(key) {
      const had = (await get(key)) !== undefined;
      if (had) await store.delete(key);
      return had;
    },
    // Other values in the store belong to the application.
    clear: () => Promise.resolve(0),
    keys: () => Promise.resolve([]),
  };
}
