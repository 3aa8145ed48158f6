/** Logins of all replicas in Redis: sealed, and renewed by one replica at a time. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { PlugboardError } from '../errors.ts';
import type { CredentialStore } from '../secrets/credential-store.ts';
import type { ClusterKeys } from './cluster-keys.ts';
import { EXTEND, SET_LOCKED, UNLOCK } from './lua.ts';
import type { RedisStore } from './redis-store.ts';

/** A replica that ends while it holds a lock blocks others for this long. */
const LOCK_MS = 10_000;
const EXTEND_MS = 3_000;
const LOOK_MS = 100;
const MAX_WAIT_MS = 60_000;

/** Marks a deleted value, so that it is not copied from a machine again. */
const DELETED = '';

export type LocalCredential = (key: string) => Promise<string | undefined>;

interface HeldLock {
  readonly name: string;
  readonly owner: string;
}

export class RedisCredentials implements CredentialStore {
  readonly #store: RedisStore;
  readonly #keys: ClusterKeys;
  readonly #local: LocalCredential | undefined;
  /** The lock that the running work holds. */
  readonly #held = new AsyncLocalStorage<HeldLock>();

  constructor(store: RedisStore, keys: ClusterKeys, local: LocalCredential | undefined) {
    this.#store = store;
    this.#keys = keys;
    this.#local = local;
  }

  async get(key: string): Promise<string | undefined> {
    const sealed = await this.#store.redis.get(this.#name(key));
    if (sealed === DELETED) return undefined;
    return sealed === null ? this.#copied(key) : this.#keys.openText(sealed, `credential\n${key}`);
  }

  /** Returns the value of this machine, for all replicas from now on; the first replica that has one wins. */
  async #copied(key: string): Promise<string | undefined> {
    const value = await this.#local?.(key);
    if (value === undefined) return undefined;
    const sealed = this.#keys.sealText(value, `credential\n${key}`);
    if ((await this.#store.redis.set(this.#name(key), sealed, 'NX')) === 'OK') return value;
    return this.get(key);
  }

  async set(key: string, value: string): Promise<void> {
    await this.#write(key, this.#keys.sealText(value, `credential\n${key}`));
  }

  async delete(key: string): Promise<void> {
    await this.#write(key, DELETED);
  }

  /** A replica that was suspended while it held a lock must not replace the value of the next holder. */
  async #write(key: string, text: string): Promise<void> {
    const held = this.#held.getStore();
    if (held === undefined) await this.#store.redis.set(this.#name(key), text);
    else if ((await this.#store.script(SET_LOCKED, [this.#name(key), held.name], [held.owner, text])) !== 1)
      throw new Error(`the lock of ${key} has expired, and another replica may have changed it`);
  }

  async lock<T>(key: string, work: () => Promise<T>): Promise<T> {
    const name = this.#store.key('lock', key);
    const owner = randomBytes(16).toString('base64url');
    await this.#acquire(name, owner, key);
    const extending = setInterval(
      () => void this.#store.script(EXTEND, [name], [owner, LOCK_MS]).catch(() => {}),
      EXTEND_MS,
    );
    extending.unref();
    try {
      return await this.#held.run({ name, owner }, work);
    } finally {
      clearInterval(extending);
      await this.#store.script(UNLOCK, [name], [owner]).catch(() => {});
    }
  }

  async #acquire(name: string, owner: string, key: string): Promise<void> {
    for (let waited = 0; waited < MAX_WAIT_MS; waited += LOOK_MS) {
      if ((await this.#store.redis.set(name, owner, 'PX', LOCK_MS, 'NX')) === 'OK') return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    throw new PlugboardError('TIMEOUT', `Another replica holds the lock of ${key}`, {
      hint: 'Try again later.',
    });
  }

  #name(key: string): string {
    return this.#store.key('credential', key);
  }
}
