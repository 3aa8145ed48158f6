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
  /** Writes or replaces a record in one step. Rejects if it cannot be stored. */
  write(name: string, text: string): Promise<void>;
  /** Starts the lifetime of a record again: its session is in use. */
  touch(name: string): Promise<void>;
  /** Deletes a record, if there is one. */
  remove(name: string): Promise<void>;
}

/** A store, and the secret with which session ids are sealed. */
export interface SessionStorage {
  readonly store: SessionStore;
  /** The same in every process that uses the store; at least 32 bytes. */
  readonly key: Uint8Array;
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
  readonly #key: Uint8Array;
  readonly #bindingOf: (principal: string) => string;

  /** `bindingOf`: the token of a principal, or its hash; ids that were issued under another one are not accepted. */
  constructor({ store, key }: SessionStorage, bindingOf: (principal: string) => string) {
    this.#store = store;
    this.#key = key;
    this.#bindingOf = bindingOf;
  }

  issueId(principal: string): string {
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    return `${nonce}.${this.#seal(nonce, principal).toString('base64url')}`;
  }

  /** True if this id was issued to this principal. */
  isIssued(id: string, principal: string): boolean {
    const [, nonce = '', seal = ''] = ID.exec(id) ?? [];
    const given = Buffer.from(seal, 'base64url');
    return given.length === SEAL_BYTES && timingSafeEqual(given, this.#seal(nonce, principal));
  }

  /** Returns what was saved; undefined if the session ended or expired, or its record cannot be read. */
  async load(id: string, principal: string): Promise<InitializedClient | undefined> {
    const text = await this.#store.read(nameOf(id)).catch(() => undefined);
    return text === undefined ? undefined : parseClient(text, principal);
  }

  /** Never rejects: a session without a record works until its process ends. */
  async save(id: string, principal: string, client: InitializedClient): Promise<void> {
    const text = JSON.stringify({ version: RECORD_VERSION, principal, client });
    if (text.length <= MAX_RECORD_CHARS) await this.#store.write(nameOf(id), text).catch(() => {});
  }

  async touch(id: string): Promise<void> {
    await this.#store.touch(nameOf(id)).catch(() => {});
  }

  remove(id: string): Promise<void> {
    return this.#store.remove(nameOf(id));
  }

  #seal(nonce: string, principal: string): Buffer {
    const sealed = JSON.stringify([RECORD_VERSION, nonce, principal, this.#bindingOf(principal)]);
    return createHmac('sha256', this.#key).update(sealed).digest().subarray(0, SEAL_BYTES);
  }
}

/** A hash: the names of records must not be usable as session ids. */
function nameOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}

function parseClient(text: string, principal: string): InitializedClient | undefined {
  const { version, principal: owner, client } = parseRecord(text) ?? {};
  if (version !== RECORD_VERSION || owner !== principal || !isRecord(client)) return undefined;
  const { protocolVersion, capabilities, clientInfo, logLevel, subscriptions } = client;
  if (typeof protocolVersion !== 'string' || !LEGACY_VERSIONS.includes(protocolVersion)) return undefined;
  if (!isRecord(capabilities) || !isLogLevel(logLevel) || !Array.isArray(subscriptions)) return undefined;
  return {
    protocolVersion,
    capabilities,
    clientInfo,
    logLevel,
    subscriptions: subscriptions.filter((uri) => typeof uri === 'string'),
  };
}
