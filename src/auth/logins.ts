/** The logins of one owner in one home folder: kept in the secret store, changed under a lock, noticed by other processes. */

import { randomBytes } from 'node:crypto';
import { constants, type FSWatcher, statSync, watch } from 'node:fs';
import { access, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { withFileLock } from '../lib/locked-file.ts';
import { makeFolder, makeFolderSync } from '../lib/make-folder.ts';
import type { SecretHome, SecretPlace, SecretStore } from '../secrets/store.ts';
import { type Account, clientKeyOf, loginKeyOf, OWN_ACCOUNT } from './account.ts';
import { NOTHING_WANTED, type Wanted } from './challenge.ts';
import { canonicalUrl, parseLogin, type StoredLogin, serializeLogin } from './stored-login.ts';

/** A token request takes at most 30 s and two of them can stand before us. */
const LOCK_WAIT_MS = 75_000;
/** How often stamps are looked at where the system cannot tell us about changes. */
const POLL_MS = 2_000;
/** A challenge older than this says nothing about what the server wants now. */
const CHALLENGE_MAX_AGE_MS = 3_600_000;
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** A login while its lock is held. */
export interface HeldLogin {
  read(): Promise<StoredLogin | undefined>;
  /** `login` is another person or other rights: hosts connect anew. `renewal` is the same login with newer tokens. */
  write(login: StoredLogin, change: Change): Promise<SecretPlace>;
  erase(): Promise<boolean>;
}

export type Change = 'login' | 'renewal';

/** The files whose time tells other processes that something changed, by what they tell. */
const STAMPS = { login: 'login', renewal: 'stamp' } as const;

export interface LoginsOptions {
  readonly home: SecretHome;
  readonly secrets: SecretStore;
  readonly clock: Clock;
  /** Whose logins; default: the person's own. */
  readonly account?: Account | undefined;
}

export class Logins {
  /** Locks, stamps and pending logins: private, and nothing in it outlives its use by much. */
  readonly folder: string;
  readonly #secrets: SecretStore;
  readonly #clock: Clock;
  readonly #account: Account;
  readonly #watched = new Map<string, Set<() => void>>();
  readonly #seen = new Map<string, string>();
  #watcher: FSWatcher | undefined;
  #stopPolling: (() => void) | undefined;
  #closed = false;

  constructor(options: LoginsOptions) {
    this.folder = join(options.home.run, 'logins');
    this.#secrets = options.secrets;
    this.#clock = options.clock;
    this.#account = options.account ?? OWN_ACCOUNT;
  }

  /** Differs between owners that use the same url. */
  keyOf(url: string): string {
    return loginKeyOf(this.#account, url);
  }

  async read(url: string): Promise<StoredLogin | undefined> {
    return parseLogin(await this.#secrets.get(this.#loginKey(url)), url);
  }

  /**
   * False when no login of this url was ever kept: spares servers without one the way to the keyring. Where the
   * folder was cleared it is wrong, and the first refusal makes us look in the store after all.
   */
  mayHave(url: string): boolean {
    return this.#stampOf(this.#stampFile(url, 'renewal')) !== '';
  }

  /** Differs from login to login and stays the same over renewals: whose answers a cache may give to whom. */
  principal(url: string): string {
    return this.#stampOf(this.#stampFile(url, 'login'));
  }

  place(url: string): Promise<SecretPlace | undefined> {
    return this.#secrets.place(this.#loginKey(url));
  }

  /** Runs `work` while no other process can refresh or replace this login. */
  async locked<T>(url: string, work: (held: HeldLogin) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const held: HeldLogin = {
      read: () => this.read(url),
      write: async (login, change) => {
        const place = await this.#secrets.set(this.#loginKey(url), serializeLogin(login));
        await this.#stamp(url, change);
        return place;
      },
      erase: async () => {
        const erased = await this.#secrets.delete(this.#loginKey(url));
        if (erased) await this.#stamp(url, 'login');
        return erased;
      },
    };
    await this.openFolder();
    try {
      return await withFileLock(this.#path(url, 'lock'), () => work(held), { waitMs: LOCK_WAIT_MS, signal });
    } catch (error) {
      if (errorCode(error) !== 'ELOCKTIMEOUT') throw error;
      throw new PlugboardError('AUTH_FAILED', 'Another process has been renewing this login for too long.', {
        hint: 'End the other plugboard process, then try again.',
        cause: error,
      });
    }
  }

  /** The secret of a client that the person registered, asked for once and kept out of every file of ours. */
  async clientSecret(url: string): Promise<string | undefined> {
    const secret = await this.#secrets.get(this.#clientKey(url));
    if (secret !== undefined || this.#account.owner !== '') return secret;
    return this.#unboundSecret(url);
  }

  /** A secret that an earlier version kept by the url alone: for the issuer that it has been used with, if any. */
  async #unboundSecret(url: string): Promise<string | undefined> {
    const { issuer, tokenUrl } = this.#account;
    if (issuer === undefined) return undefined;
    const stored = await this.read(url);
    if (stored !== undefined && stored.endpoints.token !== tokenUrl) return undefined;
    return this.#secrets.get(`client:${clientKeyOf(OWN_ACCOUNT, url)}`);
  }

  async keepClientSecret(url: string, secret: string): Promise<SecretPlace> {
    return this.#secrets.set(this.#clientKey(url), secret);
  }

  async forgetClientSecret(url: string): Promise<boolean> {
    return this.#secrets.delete(this.#clientKey(url));
  }

  /** Keeps what a server asked for, so that a login in another process asks for the same. No secret is in it. */
  async rememberChallenge(url: string, wanted: Wanted): Promise<void> {
    const text = JSON.stringify({ at: this.#clock.now(), url: canonicalUrl(url), ...wanted });
    await this.#put(this.#path(url, 'challenge'), text);
  }

  async recallChallenge(url: string): Promise<Wanted | undefined> {
    const text = await readFile(this.#path(url, 'challenge'), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return undefined;
    }
    if (!isRecord(value) || value['url'] !== canonicalUrl(url) || typeof value['at'] !== 'number')
      return undefined;
    if (this.#clock.now() - value['at'] > CHALLENGE_MAX_AGE_MS) return undefined;
    const { scheme, error, scope, resourceMetadata } = value;
    return {
      ...NOTHING_WANTED,
      ...(scheme === 'bearer' || scheme === 'dpop' ? { scheme } : {}),
      ...(typeof error === 'string' ? { error } : {}),
      ...(typeof scope === 'string' ? { scope } : {}),
      ...(typeof resourceMetadata === 'string' ? { resourceMetadata } : {}),
    };
  }

  async forgetChallenge(url: string): Promise<void> {
    await unlink(this.#path(url, 'challenge')).catch(() => undefined);
  }

  /** Keeps that the last login failed for want of a registered client, so that no one is sent to the same login again. */
  async rememberUnregistered(url: string): Promise<void> {
    await this.#put(this.#path(url, 'unregistered'), String(this.#clock.now()));
  }

  async isUnregistered(url: string): Promise<boolean> {
    return access(this.#path(url, 'unregistered')).then(
      () => true,
      () => false,
    );
  }

  async forgetUnregistered(url: string): Promise<void> {
    await unlink(this.#path(url, 'unregistered')).catch(() => undefined);
  }

  /** Calls back after each change of this kind, by this process or any other; a login is a renewal as well. */
  watch(url: string, change: Change, changed: () => void): () => void {
    const file = this.#stampFile(url, change);
    const set = this.#watched.get(file) ?? new Set();
    set.add(changed);
    this.#watched.set(file, set);
    if (!this.#seen.has(file)) this.#seen.set(file, this.#stampOf(file));
    this.#startWatching();
    return () => {
      set.delete(changed);
      if (set.size > 0) return;
      this.#watched.delete(file);
      this.#seen.delete(file);
    };
  }

  close(): void {
    this.#closed = true;
    this.#watcher?.close();
    this.#stopPolling?.();
    this.#watched.clear();
  }

  /** Makes the folder, or says in plain words that nothing can be kept. */
  async openFolder(): Promise<string> {
    try {
      await makeFolder(this.folder, PRIVATE_FOLDER);
      await access(this.folder, constants.W_OK);
    } catch {
      throw new PlugboardError('AUTH_FAILED', `No login can be kept: ${this.folder} cannot be written.`, {
        hint: 'Make this folder writable, or point PLUGBOARD_HOME at one that is.',
      });
    }
    return this.folder;
  }

  async #stamp(url: string, change: Change): Promise<void> {
    const text = String(this.#clock.now());
    await this.#put(join(this.folder, this.#stampFile(url, 'renewal')), text);
    if (change === 'login') await this.#put(join(this.folder, this.#stampFile(url, 'login')), text);
    // What this process changed itself is not left to the system to report: those who wait for it rely on that.
    for (const kind of ['renewal', 'login'] as const) this.#compare(this.#stampFile(url, kind));
  }

  async #put(file: string, text: string): Promise<void> {
    await this.openFolder();
    // Moved into place: writing in place changes a file twice, once empty and once full.
    const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
    await writeFile(temporary, text, { mode: PRIVATE_FILE });
    await rename(temporary, file);
  }

  #path(url: string, kind: 'lock' | 'challenge' | 'unregistered'): string {
    return join(this.folder, `${this.keyOf(url)}.${kind}`);
  }

  #startWatching(): void {
    if (this.#watcher !== undefined || this.#stopPolling !== undefined || this.#closed) return;
    try {
      makeFolderSync(this.folder, PRIVATE_FOLDER);
      this.#watcher = watch(this.folder, { persistent: false }, (_, name) => {
        if (name === null) this.#compareAll();
        else this.#compare(name);
      });
      this.#watcher.on('error', () => {
        this.#watcher?.close();
        this.#poll();
      });
    } catch {
      this.#poll();
    }
  }

  #poll(): void {
    if (this.#closed) return;
    this.#stopPolling = this.#clock.after(POLL_MS, () => {
      this.#compareAll();
      this.#poll();
    });
  }

  #compareAll(): void {
    for (const file of [...this.#watched.keys()]) this.#compare(file);
  }

  #compare(file: string): void {
    const listeners = this.#watched.get(file);
    if (listeners === undefined) return;
    const stamp = this.#stampOf(file);
    if (stamp === this.#seen.get(file)) return;
    this.#seen.set(file, stamp);
    for (const changed of [...listeners]) changed();
  }

  /** Another text for each state of the file; empty when there is none, or none that we may look at. */
  #stampOf(file: string): string {
    try {
      const info = statSync(join(this.folder, file), { bigint: true });
      return `${info.ino}:${info.mtimeNs}`;
    } catch {
      return '';
    }
  }

  #stampFile(url: string, change: Change): string {
    return `${this.keyOf(url)}.${STAMPS[change]}`;
  }

  #loginKey(url: string): string {
    return `login:${this.keyOf(url)}`;
  }

  #clientKey(url: string): string {
    return `client:${clientKeyOf(this.#account, url)}`;
  }
}
