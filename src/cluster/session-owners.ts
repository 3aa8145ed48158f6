/** Records of legacy sessions in Redis, each with the replica that owns it. */

import { recordName, type SessionStore } from '../endpoint/session-records.ts';
import type { ClusterKeys } from './cluster-keys.ts';
import { CLAIM, RELEASE, SAVE } from './lua.ts';
import type { RedisStore } from './redis-store.ts';

/** A session that was unused for this long cannot be continued. */
const LIFETIME_MS: number = 7 * 24 * 60 * 60 * 1000;

/** The owner of sessions that were given up. */
export const NO_REPLICA = '';

/** A session's owner, and its record if this replica owns it. */
export interface Claimed {
  readonly owner: string;
  readonly text: string | undefined;
}

export class SessionOwners implements SessionStore {
  readonly #store: RedisStore;
  readonly #keys: ClusterKeys;
  readonly #replica: string;

  constructor(store: RedisStore, keys: ClusterKeys, replica: string) {
    this.#store = store;
    this.#keys = keys;
    this.#replica = replica;
  }

  /** Returns the owner of a session; this replica becomes it if the last one has ended. Undefined without a record. */
  claim(session: string): Promise<Claimed | undefined> {
    return this.#claim(recordName(session), this.#replica);
  }

  /** Like `claim`, without becoming the owner: the owner of a session that no replica has is ''. */
  look(session: string): Promise<Claimed | undefined> {
    return this.#claim(recordName(session), NO_REPLICA);
  }

  async read(name: string): Promise<string | undefined> {
    const claimed = await this.#claim(name, this.#replica);
    return claimed?.owner === this.#replica ? claimed.text : undefined;
  }

  async write(name: string, text: string): Promise<'moved' | undefined> {
    const sealed = this.#keys.sealText(text, `record\n${name}`);
    const written = await this.#store.script(SAVE, [this.#key(name)], [this.#replica, sealed, LIFETIME_MS]);
    return written === 1 ? undefined : 'moved';
  }

  async touch(name: string): Promise<void> {
    await this.#store.redis.pexpire(this.#key(name), LIFETIME_MS);
  }

  async release(name: string): Promise<void> {
    await this.#store.script(RELEASE, [this.#key(name)], [this.#replica]);
  }

  async remove(name: string): Promise<void> {
    await this.#store.redis.del(this.#key(name));
  }

  #key(name: string): string {
    return this.#store.key('session', name);
  }

  async #claim(name: string, claimer: string): Promise<Claimed | undefined> {
    const keys = [this.#key(name), this.#store.key('lease', '')];
    const found = await this.#store.script(CLAIM, keys, [claimer]);
    const [owner, sealed] = Array.isArray(found) ? found : [];
    if (typeof owner !== 'string') return undefined;
    const text = typeof sealed === 'string' ? this.#keys.openText(sealed, `record\n${name}`) : undefined;
    return { owner, text };
  }
}
