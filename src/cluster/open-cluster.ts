/** One replica of a cluster: its handles, its connections to others, and its state in Redis. */

import { networkInterfaces } from 'node:os';
import type { Home } from '../config/home.ts';
import { isLoopback } from '../endpoint/guard.ts';
import type {
  ForwardedRequest,
  ForwardHandler,
  ForwardReceiver,
  HandleKind,
  Peer,
  Place,
  ReplicaState,
  Replicas,
} from '../endpoint/replicas.ts';
import type { SessionStore } from '../endpoint/session-records.ts';
import { PlugboardError } from '../errors.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { readVersion } from '../lib/version.ts';
import type { SharedCounters } from '../policy/budgets.ts';
import type { CredentialStore } from '../secrets/credential-store.ts';
import { type ClusterKeys, clusterKeysOf } from './cluster-keys.ts';
import { HomeMirror } from './home-mirror.ts';
import { LEASE_MS, Membership } from './membership.ts';
import { RedisCounters } from './redis-counters.ts';
import { type LocalCredential, RedisCredentials } from './redis-credentials.ts';
import { RedisStore } from './redis-store.ts';
import { ReplicaLinks } from './replica-links.ts';
import { ReplicaListener } from './replica-listener.ts';
import { newReplicaId, SealedHandles } from './sealed-handles.ts';
import { NO_REPLICA, SessionOwners } from './session-owners.ts';
import { SharedVersions } from './shared-versions.ts';

const LOOK_MS = 200;
/** Longer than the lease of a replica that was killed. */
const LOOK_LIMIT_MS: number = LEASE_MS + 3_000;
/** Sessions that moved, with their owners; the oldest are dropped first and looked up again. */
const MAX_MOVED = 100_000;
/** Lists of servers are read again at most this often because of other replicas. */
const RELIST_GAP_MS = 5_000;
const ADDRESS = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/;

export interface ClusterOptions {
  readonly url: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The host that clients reach; other replicas reach this one there too, unless it is a wildcard. */
  readonly host?: string | undefined;
  readonly clock?: Clock | undefined;
  /** Returns a login of this machine, which becomes that of all replicas. */
  readonly localCredential?: LocalCredential | undefined;
  /** The configuration files, whose content has to be that of all replicas. */
  readonly files?: readonly string[] | undefined;
  /** Its pins, approvals, eras and cached lists are those of all replicas. */
  readonly home?: Home | undefined;
}

/** The parts of one replica. */
interface Parts {
  readonly id: string;
  readonly redis: RedisStore;
  readonly keys: ClusterKeys;
  readonly membership: Membership;
  readonly listener: ReplicaListener;
  readonly clock: Clock;
  readonly localCredential: LocalCredential | undefined;
  readonly versions: SharedVersions;
  readonly home: Home | undefined;
}

/**
 * Joins the cluster at a Redis.
 *
 * @throws PlugboardError USAGE for a missing key or an invalid URL, START_FAILED if Redis cannot be reached.
 */
export async function openCluster({
  url,
  env,
  host,
  clock = systemClock,
  localCredential,
  files = [],
  home,
}: ClusterOptions): Promise<ClusterReplica> {
  const keys = clusterKeysOf(env);
  const inner = innerAddress(env['PLUGBOARD_CLUSTER_ADDRESS'], host);
  const redis = await RedisStore.open(url);
  const id = newReplicaId();
  const listener = new ReplicaListener(keys, id);
  try {
    const port = await listener.listen(inner.bind, inner.port);
    const address = `${inner.host}:${port}`;
    const versions = new SharedVersions(redis);
    const membership = new Membership(redis, keys, { id, address, version: readVersion(), clock, files });
    membership.onBeat(() => void versions.check());
    await versions.open();
    await membership.join();
    const parts = { id, redis, keys, membership, listener, clock, localCredential, versions, home };
    const replica = new ClusterReplica(parts);
    await replica.settled;
    return replica;
  } catch (error) {
    listener.close();
    redis.close();
    throw error;
  }
}

export class ClusterReplica implements Replicas {
  readonly store: SessionStore;
  /** Counters of budgets. */
  readonly counters: SharedCounters;
  /** Logins, which replicas without a shared home have in common. */
  readonly credentials: CredentialStore;
  readonly #parts: Parts;
  readonly #links: ReplicaLinks;
  readonly #handles: SealedHandles;
  readonly #owners: SessionOwners;
  readonly #moved = new Map<string, string>();
  readonly #mirror: HomeMirror | undefined;
  /** Resolves when the home has the records of all replicas. */
  readonly settled: Promise<void>;
  #onLists: () => void = () => {};
  #listsTimer: NodeJS.Timeout | undefined;
  /** True if lists were received while the timer ran. */
  #hasMoreLists = false;
  #isDraining = false;
  #forwardedCount = 0;
  #takenCount = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { id, redis, keys, clock } = parts;
    this.#links = new ReplicaLinks(keys);
    this.#handles = new SealedHandles(keys, id, clock);
    this.#owners = new SessionOwners(redis, keys, id);
    this.store = this.#owners;
    this.counters = new RedisCounters(redis, parts.membership);
    this.credentials = new RedisCredentials(redis, keys, parts.localCredential);
    const { home, versions } = parts;
    this.#mirror =
      home &&
      new HomeMirror({
        store: redis,
        keys,
        versions,
        home,
        onReceived: (book) => {
          if (book === 'tools' || book === 'content') this.#listsReceived();
        },
      });
    this.settled = this.#mirror?.open() ?? Promise.resolve();
  }

  get state(): ReplicaState {
    const { membership, redis } = this.#parts;
    return {
      replicas: membership.size,
      isRedisUp: redis.isUp,
      forwarded: this.#forwardedCount,
      taken: this.#takenCount,
      differing: membership.differing,
      isDraining: this.#isDraining,
    };
  }

  issue(kind: HandleKind, holder: string): string {
    return this.#handles.issue(kind, holder);
  }

  placeOf(kind: HandleKind, handle: string, holder: string): Place {
    const issuer = this.#handles.replicaOf(kind, handle, holder);
    if (issuer === undefined) return 'unknown';
    const owner = kind === 'session' ? (this.#moved.get(handle) ?? issuer) : issuer;
    if (owner === this.#parts.id) return 'here';
    // A replica that is not known has no address: sending fails, and its owner is looked up.
    return this.#parts.membership.peer(owner) ?? { id: owner, address: '' };
  }

  async locate(session: string, holder: string): Promise<Place | 'unreachable'> {
    const { id, clock, membership } = this.#parts;
    if (this.placeOf('session', session, holder) === 'unknown') return 'unknown';
    const until = clock.now() + LOOK_LIMIT_MS;
    const before = this.#moved.get(session);
    for (;;) {
      // After Redis was away, the owners first write their leases and records again.
      const mayClaim = membership.isSettled && !this.#isDraining;
      const claiming = mayClaim ? this.#owners.claim(session) : this.#owners.look(session);
      const claimed = await claiming.catch(() => 'away' as const);
      if (claimed === undefined && membership.isSettled) return 'unknown';
      if (claimed !== undefined && claimed !== 'away') {
        const { owner } = claimed;
        if (owner === NO_REPLICA && this.#isDraining) return this.other() ?? 'unreachable';
        if (owner === id) {
          this.#takenCount += 1;
          this.#remember(session, id);
          return 'here';
        }
        const peer = membership.peer(owner);
        if (peer !== undefined && (owner !== before || this.#links.has(owner))) {
          this.#remember(session, owner);
          return peer;
        }
      }
      if (clock.now() >= until) return 'unreachable';
      await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
    }
  }

  send(peer: Peer, request: ForwardedRequest, receiver: ForwardReceiver): () => void {
    this.#forwardedCount += 1;
    if (peer.address !== '') return this.#links.send(peer, request, receiver);
    setImmediate(() => receiver.unsent());
    return () => {};
  }

  other(): Peer | undefined {
    return this.#parts.membership.other();
  }

  drain(): void {
    this.#isDraining = true;
    this.#parts.membership.drain();
  }

  accept(handler: ForwardHandler): void {
    this.#parts.listener.accept(handler);
  }

  onLapsed(listener: () => void): void {
    this.#parts.membership.onLapsed(listener);
  }

  /** Calls back when another replica has read a list that differs. */
  onListsChanged(listener: () => void): void {
    this.#onLists = listener;
  }

  /** A server that lists other tools to each replica must not make all of them list without an end. */
  #listsReceived(): void {
    this.#hasMoreLists = this.#listsTimer !== undefined;
    if (this.#hasMoreLists) return;
    this.#onLists();
    this.#listsTimer = setTimeout(() => {
      this.#listsTimer = undefined;
      if (this.#hasMoreLists) this.#listsReceived();
    }, RELIST_GAP_MS);
    this.#listsTimer.unref();
  }

  async leave(): Promise<void> {
    this.#parts.listener.leave();
    await this.#parts.membership.leave();
  }

  /** May be called twice. */
  async close(): Promise<void> {
    await this.leave();
    this.#mirror?.close();
    clearTimeout(this.#listsTimer);
    this.#links.close();
    this.#parts.listener.close();
    this.#parts.redis.close();
  }

  #remember(session: string, owner: string): void {
    this.#moved.delete(session);
    this.#moved.set(session, owner);
    const [oldest] = this.#moved.keys();
    if (this.#moved.size > MAX_MOVED && oldest !== undefined) this.#moved.delete(oldest);
  }
}

interface InnerAddress {
  readonly bind: string;
  readonly host: string;
  readonly port: number;
}

/** Returns the address for other replicas: the given one, else that of clients, else the first of this machine. */
function innerAddress(given: string | undefined, served: string | undefined): InnerAddress {
  if (given !== undefined && given !== '') {
    const [, host = '', port = '0'] = ADDRESS.exec(given) ?? [];
    if (host === '')
      throw new PlugboardError('USAGE', 'PLUGBOARD_CLUSTER_ADDRESS is not an address', {
        hint: 'Use host or host:port, as other replicas reach this one.',
      });
    return { bind: isLoopback(host) ? host : '::', host, port: Number(port) };
  }
  const name = served ?? '127.0.0.1';
  if (name !== '0.0.0.0' && name !== '::' && name !== '[::]')
    return { bind: name.replace(/^\[|\]$/g, ''), host: name, port: 0 };
  const outer = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4');
  const host = outer?.address ?? '127.0.0.1';
  return { bind: host, host, port: 0 };
}
