/** Handles of sessions and held work: sealed texts that name the replica that has them. */

import { randomBytes } from 'node:crypto';
import type { HandleKind } from '../endpoint/replicas.ts';
import type { Clock } from '../lib/clock.ts';
import type { ClusterKeys } from './cluster-keys.ts';

const REPLICA_BYTES = 8;
const NUMBER_BYTES = 8;
const EXPIRY_BYTES = 4;
const SECOND_MS = 1_000;
/** A handle is not accepted after this time, whether or not it is in use. */
const LIFETIME_MS: number = 30 * 24 * 60 * 60 * 1000;
/** Opened handles that are kept, so that a call needs no decryption. */
const MAX_OPENED = 100_000;
const MAX_CHARS = 128;

interface Opened {
  readonly context: string;
  readonly replica: string;
  readonly expiresAt: number;
}

export function newReplicaId(): string {
  return randomBytes(REPLICA_BYTES).toString('base64url');
}

export class SealedHandles {
  readonly #keys: ClusterKeys;
  readonly #clock: Clock;
  readonly #own: Buffer;
  readonly #opened = new Map<string, Opened>();

  constructor(keys: ClusterKeys, replica: string, clock: Clock) {
    this.#keys = keys;
    this.#clock = clock;
    this.#own = Buffer.from(replica, 'base64url');
  }

  issue(kind: HandleKind, holder: string): string {
    const expiry = Buffer.alloc(EXPIRY_BYTES);
    expiry.writeUInt32BE(Math.floor((this.#clock.now() + LIFETIME_MS) / SECOND_MS));
    const plain = Buffer.concat([this.#own, randomBytes(NUMBER_BYTES), expiry]);
    return this.#keys.seal(plain, contextOf(kind, holder)).toString('base64url');
  }

  /** Returns the replica that issued a handle; undefined if it is forged, expired, or of another holder. */
  replicaOf(kind: HandleKind, handle: string, holder: string): string | undefined {
    const context = contextOf(kind, holder);
    const known = this.#opened.get(handle);
    const opened = known ?? this.#open(handle, context);
    if (opened === undefined || opened.context !== context) return undefined;
    return opened.expiresAt > this.#clock.now() ? opened.replica : undefined;
  }

  #open(handle: string, context: string): Opened | undefined {
    if (handle.length > MAX_CHARS) return undefined;
    const plain = this.#keys.open(Buffer.from(handle, 'base64url'), context);
    if (plain?.length !== REPLICA_BYTES + NUMBER_BYTES + EXPIRY_BYTES) return undefined;
    const opened = {
      context,
      replica: plain.subarray(0, REPLICA_BYTES).toString('base64url'),
      expiresAt: plain.readUInt32BE(REPLICA_BYTES + NUMBER_BYTES) * SECOND_MS,
    };
    this.#opened.set(handle, opened);
    const [oldest] = this.#opened.keys();
    if (this.#opened.size > MAX_OPENED && oldest !== undefined) this.#opened.delete(oldest);
    return opened;
  }
}

function contextOf(kind: HandleKind, holder: string): string {
  return `${kind}\n${holder}`;
}
