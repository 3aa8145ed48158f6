/** Counters of budgets in Redis, which all replicas share. */

import type { SharedCount, SharedCounters } from '../policy/budgets.ts';
import { ADD, RESERVE } from './lua.ts';
import type { Membership } from './membership.ts';
import type { RedisStore } from './redis-store.ts';

export class RedisCounters implements SharedCounters {
  readonly #store: RedisStore;
  readonly #membership: Membership;

  constructor(store: RedisStore, membership: Membership) {
    this.#store = store;
    this.#membership = membership;
  }

  get shares(): number {
    return this.#membership.size;
  }

  async reserve(
    counts: readonly (SharedCount & { readonly limit: number })[],
  ): ReturnType<SharedCounters['reserve']> {
    // A frozen Redis delays one call, not each.
    if (!this.#store.isUp) return 'away';
    const args = counts.flatMap(({ periodMs, limit, amount }) => [periodMs, limit, amount]);
    try {
      const answer = await this.#store.script(RESERVE, this.#keys(counts), args);
      const [refusing, waitMs] = Array.isArray(answer) ? answer : [];
      if (refusing === 0) return 'counted';
      return { place: Number(refusing) - 1, waitMs: Number(waitMs) };
    } catch {
      this.#store.answered(false);
      return 'away';
    }
  }

  add(counts: readonly SharedCount[]): void {
    if (!this.#store.isUp) return;
    const args = counts.flatMap(({ periodMs, amount }) => [periodMs, amount]);
    this.#store.script(ADD, this.#keys(counts), args).catch(() => {});
  }

  #keys(counts: readonly SharedCount[]): readonly string[] {
    return counts.map(({ key }) => this.#store.key('budget', key));
  }
}
