/** Where a program keeps credentials in place of the keyring: its own database, one store for each of its users. */

import type { SecretStore } from './store.ts';

type Awaitable<T> = T | Promise<T>;

/**
 * Keeps the credentials of one user: logins with their tokens, client secrets, answers to `${input:…}`, and logins that
 * wait for their answer. Values are texts with secrets in them; encrypt them as you see fit. Keys are short, without
 * secrets, and the same in every process.
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
  /** The value that `set` was given last, by any process; undefined or null if there is none. */
  get(key: string): Awaitable<string | null | undefined>;
  /** Replaces the value as a whole: a reader sees the old one or the new one. */
  set(key: string, value: string): Awaitable<unknown>;
  delete(key: string): Awaitable<unknown>;
  /**
   * Runs `work` while no other process runs work for the same key, and settles as it does. Tokens are renewed in it, so
   * that a refresh token is used once. Without it, only the calls of one host wait for each other.
   */
  lock?<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** The same as the store that everything else works with. */
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
    // What else is in there is the program's matter.
    clear: () => Promise.resolve(0),
    keys: () => Promise.resolve([]),
  };
}
