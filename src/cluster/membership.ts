/** The replicas of a cluster: announces this one with a lease in Redis, and knows the addresses of the others. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Peer } from '../endpoint/replicas.ts';
import { type Clock, ticksOf } from '../lib/clock.ts';
import { isRecord, parseRecord } from '../lib/json.ts';
import type { ClusterKeys } from './cluster-keys.ts';
import type { RedisStore } from './redis-store.ts';

const BEAT_MS = 1_000;
/** A replica without a beat for this long has lost its sessions to others. */
export const LEASE_MS = 4_000;
/** After Redis was away, each replica has written its lease and its records again within this time. */
const SETTLE_MS: number = 3 * BEAT_MS;
/** A replica that is missing in Redis is still asked for its sessions for this long: Redis may have lost its entry. */
const RETAIN_MS = 30_000;
/** Beats between two removals of replicas that ended without leaving. */
const BEATS_PER_SWEEP = 10;

export interface MembershipOptions {
  readonly id: string;
  readonly address: string;
  readonly version: string;
  readonly clock: Clock;
  /** The configuration files. */
  readonly files: readonly string[];
}

interface KnownPeer extends Peer {
  readonly isDraining: boolean;
  readonly seenAt: number;
}

export class Membership {
  readonly #store: RedisStore;
  readonly #keys: ClusterKeys;
  readonly #own: MembershipOptions;
  readonly #onLapsed: (() => void)[] = [];
  readonly #onBeat: (() => void)[] = [];
  #peers: ReadonlyMap<string, KnownPeer> = new Map();
  #size = 1;
  #differing = 0;
  #upAt = Number.NEGATIVE_INFINITY;
  #isDraining = false;
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
      if (!isUp) return;
      this.#upAt = ticksOf(this.#own.clock);
      void this.#beat().catch(() => {});
    });
  }

  /** Returns a replica that was known when Redis last answered. */
  peer(id: string): Peer | undefined {
    return this.#peers.get(id);
  }

  /** Returns another replica that is not about to end. */
  other(): Peer | undefined {
    const since = ticksOf(this.#own.clock) - LEASE_MS;
    const others = [...this.#peers.values()].filter(
      ({ id, isDraining, seenAt }) => id !== this.#own.id && !isDraining && seenAt > since,
    );
    return others[Math.floor(Math.random() * others.length)];
  }

  /** Lets other replicas know that this one is about to end. */
  drain(): void {
    this.#isDraining = true;
    void this.#beat().catch(() => {});
  }

  /** The number of replicas, with this one. */
  get size(): number {
    return this.#size;
  }

  /** The number of other replicas with other configuration files. */
  get differing(): number {
    return this.#differing;
  }

  /** False while other replicas may not have written their leases and records again. */
  get isSettled(): boolean {
    return ticksOf(this.#own.clock) - this.#upAt >= SETTLE_MS;
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
      const { id, address, version, files } = this.#own;
      const config = await contentHash(files);
      const entry = JSON.stringify({
        address,
        version,
        config,
        keys: this.#keys.ids,
        draining: this.#isDraining,
      });
      const answers = await this.#store
        .pipeline()
        .set(this.leaseOf(id), '1', 'PX', LEASE_MS, 'GET')
        .hset(this.#registry, id, entry)
        .hgetall(this.#registry)
        .exec();
      const [lease, , registry] = answers ?? [];
      if (lease?.[0] || registry?.[0]) throw lease?.[0] ?? registry?.[0];
      this.#store.answered(true);
      this.#read(registry?.[1], config);
      if (lease?.[1] === null && this.#beats > 0) for (const listener of this.#onLapsed) listener();
      for (const listener of this.#onBeat) listener();
      this.#beats += 1;
      if (this.#beats % BEATS_PER_SWEEP === 0 && this.isSettled) await this.#sweep();
    } catch (error) {
      this.#store.answered(false);
      throw error;
    } finally {
      this.#isBeating = false;
    }
  }

  #read(registry: unknown, ownConfig: string): void {
    if (!isRecord(registry)) return;
    const now = ticksOf(this.#own.clock);
    const found = Object.entries(registry).flatMap(([id, text]) => {
      const { address, keys, draining, config } =
        (typeof text === 'string' ? parseRecord(text) : undefined) ?? {};
      if (typeof address !== 'string' || !Array.isArray(keys)) return [];
      return [
        {
          peer: { id, address, isDraining: draining === true, seenAt: now },
          keys: keys.filter((key) => typeof key === 'string'),
          config,
        },
      ];
    });
    const missing = [...this.#peers.values()].filter(({ seenAt }) => now - seenAt < RETAIN_MS);
    const peers = [...missing, ...found.map(({ peer }) => peer)];
    this.#peers = new Map(peers.map((peer) => [peer.id, peer]));
    this.#size = Math.max(1, found.length);
    this.#differing = found.filter(({ config }) => typeof config === 'string' && config !== ownConfig).length;
    this.#keys.peersKnow(found.map(({ keys }) => keys));
  }

  async #sweep(): Promise<void> {
    const others = [...this.#peers.keys()].filter((id) => id !== this.#own.id);
    for (const id of others)
      if ((await this.#store.redis.exists(this.leaseOf(id))) === 0)
        await this.#store.redis.hdel(this.#registry, id);
  }
}

/** A missing file is an empty one. */
async function contentHash(files: readonly string[]): Promise<string> {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}
