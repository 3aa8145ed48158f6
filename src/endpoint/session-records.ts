/**
 * Records of legacy sessions, from which another process continues them.
 *
 * A session id carries a seal over the principal and the token it was issued to. An id that is forged, or presented
 * by another principal, is rejected before the store is read.
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { LEGACY_VERSIONS } from '../connection/eras.ts';
import { isLogLevel } from '../connection/log-levels.ts';
import { isRecord, parseRecord } from '../lib/json.ts';
import type { InitializedClient } from './client-connection.ts';

/** Storage for records of legacy HTTP sessions, shared by the processes that may continue each other's sessions. */
export interface SessionStore {
  /** Returns the text of a record; undefined if there is none, or it expired. */
  read(name: string): Promise<string | undefined>;
  /**
   * Writes or replaces a record in one step. Rejects if it cannot be stored; `moved`: another process has continued
   * the session, and the record is its own.
   */
  write(name: string, text: string): Promise<'moved' | undefined>;
  /** Starts the lifetime of a record again: its session is in use. */
  touch(name: string): Promise<void>;
  /** Deletes a record, if there is one. */
  remove(name: string): Promise<void>;
  /** Gives a session up, so that another process can continue it while this one still runs. */
  release?(name: string): Promise<void>;
}

/** Issues session ids that are valid for one holder. */
export interface SessionIds {
  issue(holder: string): string;
  isIssued(id: string, holder: string): boolean;
}

/** A store, and the secret with which session ids are sealed. */
export interface SessionStorage {
  readonly store: SessionStore;
  /** The same in every process that uses the store; at least 32 bytes. */
  readonly key: Uint8Array;
}

/** A store, and ids that another part seals. */
export interface IssuedStorage {
  readonly store: SessionStore;
  readonly ids: SessionIds;
}

/** Records of other versions are ignored. */
const RECORD_VERSION = 1;
const NONCE_BYTES = 16;
const SEAL_BYTES = 16;
const ID = /^([\w-]{22})\.([\w-]{22})$/;
/** A session with a longer record is not stored; it lives in memory only. */
const MAX_RECORD_CHARS: number = 256 * 1024;

export class SessionRecords {
  readonly #store: SessionStore;
  readonly #ids: SessionIds;
  readonly #bindingOf: (principal: string) => string;

  /** `bindingOf`: the token of a principal, or its hash; ids that were issued under another one are not accepted. */
  constructor(storage: SessionStorage | IssuedStorage, bindingOf: (principal: string) => string) {
    this.#store = storage.store;
    this.#ids = 'ids' in storage ? storage.ids : new KeyedIds(storage.key);
    this.#bindingOf = bindingOf;
  }

  issueId(principal: string): string {
    return this.#ids.issue(this.holderOf(principal));
  }

  /** True if this id was issued to this principal. */
  isIssued(id: string, principal: string): boolean {
    return this.#ids.isIssued(id, this.holderOf(principal));
  }

  /** Returns the text that an id of a principal is sealed for: the principal with its token. */
  holderOf(principal: string): string {
    return JSON.stringify([principal, this.#bindingOf(principal)]);
  }

  /** Returns what was saved; undefined if the session ended or expired, or its record cannot be read. */
  async load(id: string, principal: string): Promise<InitializedClient | undefined> {
    const text = await this.#store.read(recordName(id)).catch(() => undefined);
    return text === undefined ? undefined : parseClient(text, principal);
  }

  /**
   * Never rejects: a session without a record works until its process ends. False if another process has continued
   * the session.
   */
  async save(id: string, principal: string, client: InitializedClient): Promise<boolean> {
    const text = JSON.stringify({ version: RECORD_VERSION, principal, client });
    if (text.length > MAX_RECORD_CHARS) return true;
    const written = await this.#store.write(recordName(id), text).catch(() => undefined);
    return written !== 'moved';
  }

  async touch(id: string): Promise<void> {
    await this.#store.touch(recordName(id)).catch(() => {});
  }

  async release(id: string): Promise<void> {
    await this.#store.release?.(recordName(id)).catch(() => {});
  }

  remove(id: string): Promise<void> {
    return this.#store.remove(recordName(id));
  }
}

/** Ids with a seal of one key over a nonce and the holder. */
class KeyedIds implements SessionIds {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  issue(holder: string): string {
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    return `${nonce}.${this.#seal(nonce, holder).toString('base64url')}`;
  }

  isIssued(id: string, holder: string): boolean {
    const [, nonce = '', seal = ''] = ID.exec(id) ?? [];
    const given = Buffer.from(seal, 'base64url');
    return given.length === SEAL_BYTES && timingSafeEqual(given, this.#seal(nonce, holder));
  }

  #seal(nonce: string, holder: string): Buffer {
    // The form of ids that older versions issued.
    const sealed = `[${RECORD_VERSION},${JSON.stringify(nonce)},${holder.slice(1)}`;
    return createHmac('sha256', this.#key).update(sealed).digest().subarray(0, SEAL_BYTES);
  }
}

/** A hash: the names of records must not be usable as session ids. */
export function recordName(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}

function parseClient(text: string, principal: string): InitializedClient | undefined {
  const { version, principal: owner, client } = parseRecord(text) ?? {};
  if (version !== RECORD_VERSION || owner !== principal || !isRecord(client)) return undefined;
  const { protocolVersion, capabilities, clientInfo, logLevel, subscriptions, memory } = client;
  if (typeof protocolVersion !== 'string' || !LEGACY_VERSIONS.includes(protocolVersion)) return undefined;
  if (!isRecord(capabilities) || !isLogLevel(logLevel) || !Array.isArray(subscriptions)) return undefined;
  return {
    protocolVersion,
    capabilities,
    clientInfo,
    logLevel,
    subscriptions: subscriptions.filter((uri) => typeof uri === 'string'),
    ...(isRecord(memory)
      ? { memory: { allowed: texts(memory['allowed']), loaded: texts(memory['loaded']) } }
      : {}),
  };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
