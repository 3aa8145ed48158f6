/** Keeps locks, change stamps and pending logins as private files in the home folder, visible to other processes. */

import { randomBytes } from 'node:crypto';
import { constants, type FSWatcher, statSync, watch } from 'node:fs';
import { access, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { withFileLock } from '../lib/locked-file.ts';
import { makeFolder, makeFolderSync } from '../lib/make-folder.ts';
import type { SecretHome } from '../secrets/store.ts';
import type { Change, LoginTraces, NoteKind } from './login-traces.ts';
import { dropPending, type PendingLogin, savePending, takePending } from './pending-login.ts';

/** A token request takes at most 30 s, and two of them can be queued before ours. */
const LOCK_WAIT_MS = 75_000;
/** Poll interval for stamps on systems without file change notifications. */
const POLL_MS = 2_000;
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** The files whose modification time signals a change to other processes, by kind of change. */
const STAMPS = { login: 'login', renewal: 'stamp' } as const;

export class HomeTraces implements LoginTraces {
  readonly announces = true;
  /** Private folder of locks, stamps and pending logins; its files are short-lived. */
  readonly folder: string;
  readonly #clock: Clock;
  readonly #watched = new Map<string, Set<() => void>>();
  readonly #seen = new Map<string, string>();
  #watcher: FSWatcher | undefined;
  #stopPolling: (() => void) | undefined;
  #closed = false;

  constructor(home: SecretHome, clock: Clock) {
    this.folder = join(home.run, 'logins');
    this.#clock = clock;
  }

  /** If the folder was cleared, the result is wrong until the first refusal, after which the store is read anyway. */
  mayHave(key: string): boolean {
    return this.#stampOf(stampFile(key, 'renewal')) !== '';
  }

  loginStamp(key: string): string {
    return this.#stampOf(stampFile(key, 'login'));
  }

  async locked<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#openFolder();
    try {
      return await withFileLock(this.#path(key, 'lock'), work, { waitMs: LOCK_WAIT_MS, signal });
    } catch (error) {
      if (errorCode(error) !== 'ELOCKTIMEOUT') throw error;
      throw new PlugboardError('AUTH_FAILED', 'Another process has been renewing this login for too long', {
        hint: 'End the other plugboard process, then try again.',
        cause: error,
      });
    }
  }

  async note(key: string, kind: NoteKind, text: string): Promise<void> {
    await this.#put(this.#path(key, kind), text);
  }

  noteOf(key: string, kind: NoteKind): Promise<string | undefined> {
    return readFile(this.#path(key, kind), 'utf8').catch(() => undefined);
  }

  async forgetNote(key: string, kind: NoteKind): Promise<void> {
    await unlink(this.#path(key, kind)).catch(() => undefined);
  }

  async savePending(pending: PendingLogin): Promise<void> {
    await savePending(await this.#openFolder(), pending);
  }

  takePending(state: string, account: string): Promise<PendingLogin | undefined> {
    return takePending(this.folder, state, account, this.#clock.now());
  }

  dropPending(state: string): Promise<void> {
    return dropPending(this.folder, state);
  }

  watch(key: string, change: Change, changed: () => void): () => void {
    const file = stampFile(key, change);
    const set = getOrMake(this.#watched, file, () => new Set());
    set.add(changed);
    getOrMake(this.#seen, file, () => this.#stampOf(file));
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

  /** Creates the folder; throws AUTH_FAILED if it cannot be written. */
  async #openFolder(): Promise<string> {
    try {
      await makeFolder(this.folder, PRIVATE_FOLDER);
      await access(this.folder, constants.W_OK);
    } catch {
      throw new PlugboardError('AUTH_FAILED', `No login can be kept: ${this.folder} cannot be written`, {
        hint: 'Make this folder writable, or point PLUGBOARD_HOME at one that is.',
      });
    }
    return this.folder;
  }

  async stamp(key: string, change: Change): Promise<void> {
    const text = String(this.#clock.now());
    await this.#put(join(this.folder, stampFile(key, 'renewal')), text);
    if (change === 'login') await this.#put(join(this.folder, stampFile(key, 'login')), text);
    // Changes by this process do not depend on file notifications: its own watchers rely on them.
    for (const kind of ['renewal', 'login'] as const) this.#compare(stampFile(key, kind));
  }

  async #put(file: string, text: string): Promise<void> {
    await this.#openFolder();
    // Renamed into place, because writing in place changes a file twice: once empty, once full.
    const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
    await writeFile(temporary, text, { mode: PRIVATE_FILE });
    await rename(temporary, file);
  }

  #path(key: string, kind: 'lock' | NoteKind): string {
    return join(this.folder, `${key}.${kind}`);
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

  /** Returns a text that differs for each state of the file; empty if the file is missing or not accessible. */
  #stampOf(file: string): string {
    try {
      const info = statSync(join(this.folder, file), { bigint: true });
      return `${info.ino}:${info.mtimeNs}`;
    } catch {
      return '';
    }
  }
}

function stampFile(key: string, change: Change): string {
  return `${key}.${STAMPS[change]}`;
}
