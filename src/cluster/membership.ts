/** The replicas of a cluster: announces this one with a lease in Redis, and knows the addresses of the others. */

import type { Peer } from '../endpoint/replicas.ts';
import { isRecord, parseRecord } from '../lib/json.ts';
import type { ClusterKeys } from './cluster-keys.ts';
import type { RedisStore } from './redis-store.ts';

const BEAT_MS = 1_000;
/** A replica without a beat for this long has lost its sessions to others. */
export const LEASE_MS = 4_000;
/** Beats between two removals of replicas that ended without leaving. */
const BEATS_PER_SWEEP = 10;

export interface MembershipOptions {
  readonly id: string;
  readonly address: string;
  readonly version: string;
}

export class Membership {
  readonly #store: RedisStore;
  readonly #keys: ClusterKeys;
  readonly #own: MembershipOptions;
  readonly #onLapsed: (() => void)[] = [];
  readonly #onBeat: (() => void)[] = [];
  #peers: ReadonlyMap<string, Peer> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #beats = 0;
  #isBeating = false;
  #isLeft = false;

  constructor(store: RedisStore, keys: ClusterKeys, own: MembershipOptions) {
    this.#store = store;
    this.#keys = keys;
    this.#own = own;
  }

  async join(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => void this.#beat().catch(() => {}), BEAT_MS);
    this.#timer.unref();
    await this.#store.subscribe('replicas', () => void this.#beat().catch(() => {}));
    this.#store.publish('replicas', 'joined');
    // Redis may have been restarted without its data.
    this.#store.onChange((isUp) => {
      if (isUp) void this.#beat().catch(() => {});
    });
  }

  /** Returns a replica that was known when Redis last answered. */
  peer(id: string): Peer | undefined {
    return this.#peers.get(id);
  }

  /** The number of replicas, with this one. */
  get size(): number {
    return Math.max(1, this.#peers.size);
  }

  /** Calls back if the lease of this replica had ended, or Redis lost it. */
  onLapsed(listener: () => void): void {
    this.#onLapsed.push(listener);
  }

  /** Calls back each second while Redis answers. */
  onBeat(listener: () => void): void {
    this.#onBeat.push(listener);
  }

  leaseOf(id: string): string {
    return this.#store.key('lease', id);
  }

  /** Gives up the lease, so that other replicas continue the sessions of this one. */
  async leave(): Promise<void> {
    this.stop();
    const { id } = this.#own;
    await this.#store
      .pipeline()
      .del(this.leaseOf(id))
      .hdel(this.#registry, id)
      .exec()
      .catch(() => {});
    this.#store.publish('replicas', 'left');
  }

  stop(): void {
    this.#isLeft = true;
    clearInterval(this.#timer);
  }

  get #registry(): string {
    return this.#store.key('replicas');
  }

  async #beat(): Promise<void> {
    if (this.#isLeft || this.#isBeating) return;
    this.#isBeating = true;
    try {
      const { id, address, version } = this.#own;
      const entry = JSON.stringify({ address, version, keys: this.#keys.ids });
      const answers = await this.#store
        .pipeline()
        .set(this.leaseOf(id), '1', 'PX', LEASE_MS, 'GET')
        .hset(this.#registry, id, entry)
        .hgetall(this.#registry)
        .exec();
      const [lease, , registry] = answers ?? [];
      if (lease?.[0] || registry?.[0]) throw lease?.[0] ?? registry?.[0];
      this.#store.answered(true);
      this.#read(registry?.[1]);
      if (lease?.[1] === null && this.#beats > 0) for (const listener of this.#onLapsed) listener();
      for (const listener of this.#onBeat) listener();
      this.#beats += 1;
      if (this.#beats % BEATS_PER_SWEEP === 0) await this.#sweep();
    } catch (error) {
      this.#store.answered(false);
      throw error;
    } finally {
      this.#isBeating = false;
    }
  }

  #read(registry: unknown): void {
    if (!isRecord(registry)) return;
    const found = Object.entries(registry).flatMap(([id, text]) => {
      const { address, keys } = (typeof text === 'string' ? parseRecord(text) : undefined) ?? {};
      if (typeof address !== 'string' || !Array.isArray(keys)) return [];
      return [{ peer: { id, address }, keys: keys.filter((key) => typeof key === 'string') }];
    });
    this.#peers = new Map(found.map(({ peer }) => [peer.id, peer]));
    this.#keys.peersKnow(found.map(({ keys }) => keys));
  }

  async #sweep(): Promise<void> {
    const others = [...this.#peers.keys()].filter((id) => id !== this.#own.id);
    for (const id of others)
      if ((await this.#store.redis.exists(this.leaseOf(id))) === 0)
        await this.#store.redis.hdel(this.#registry, id);
  }
}
