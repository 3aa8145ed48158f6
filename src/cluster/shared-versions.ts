/** Announces changes to all replicas: a counter for each subject, which is compared each second, and a message at once. */

import { getOrMake } from '../lib/get-or-make.ts';
import type { RedisStore } from './redis-store.ts';

const CHANNEL = 'changes';

export class SharedVersions {
  readonly #store: RedisStore;
  readonly #seen = new Map<string, string>();
  readonly #listeners = new Map<string, (() => void)[]>();

  constructor(store: RedisStore) {
    this.#store = store;
  }

  /** Calls back when another replica has changed a subject. */
  onChange(subject: string, listener: () => void): void {
    getOrMake(this.#listeners, subject, () => []).push(listener);
  }

  async open(): Promise<void> {
    await this.#store.subscribe(CHANNEL, () => void this.check());
    await this.#read((subject, version) => this.#seen.set(subject, version));
  }

  /** Announces a change of this replica. */
  async changed(subject: string): Promise<void> {
    const version = await this.#store.redis.hincrby(this.#key, subject, 1);
    // A change of another replica in between is found by the next check.
    if (Number(this.#seen.get(subject) ?? 0) + 1 === version) this.#seen.set(subject, String(version));
    this.#store.publish(CHANNEL, '');
  }

  /** Finds changes whose messages were lost. */
  async check(): Promise<void> {
    await this.#read((subject, version) => {
      if (this.#seen.get(subject) === version) return;
      this.#seen.set(subject, version);
      for (const listener of this.#listeners.get(subject) ?? []) listener();
    }).catch(() => {});
  }

  async #read(found: (subject: string, version: string) => void): Promise<void> {
    const versions = await this.#store.redis.hgetall(this.#key);
    for (const [subject, version] of Object.entries(versions)) found(subject, version);
  }

  get #key(): string {
    return this.#store.key('versions');
  }
}
