/** Stores session records as files in the home: one for each session, readable by its owner only. */

import { randomBytes } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionStorage, SessionStore } from '../endpoint/session-records.ts';
import type { Clock } from '../lib/clock.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { readKeyFile } from '../lib/sealed-bytes.ts';

const FOLDER_NAME = 'sessions';
const KEY_NAME = 'session-key';
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** A session that was unused for this long cannot be continued. */
const MAX_AGE_MS: number = 7 * 24 * 60 * 60 * 1000;
/** The most recently used sessions are kept. */
const MAX_RECORDS = 1_000;
/** New records between two checks of the folder's age and size limits. */
const WRITES_PER_SWEEP = 100;

/** Opens the records of a home. Rejects if its key can be neither read nor written. */
export async function openSessionFiles(
  home: { readonly dir: string; readonly run: string },
  clock: Clock,
): Promise<SessionStorage> {
  const folder = join(home.dir, FOLDER_NAME);
  await makeFolder(folder, FOLDER_MODE);
  const store = new SessionFiles(folder, clock);
  const key = await readKeyFile(join(home.dir, KEY_NAME), join(home.run, 'locks'));
  await store.sweep().catch(() => {});
  return { store, key };
}

class SessionFiles implements SessionStore {
  readonly #folder: string;
  readonly #clock: Clock;
  #writes = 0;

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  async read(name: string): Promise<string | undefined> {
    const file = join(this.#folder, name);
    const { mtimeMs } = await stat(file);
    return this.#isExpired(mtimeMs) ? undefined : readFile(file, 'utf8');
  }

  async write(name: string, text: string): Promise<undefined> {
    const file = join(this.#folder, name);
    const temporary = `${file}.${randomBytes(4).toString('hex')}.tmp`;
    try {
      // Not synced: a record has to outlive the process, not the machine.
      await writeFile(temporary, text, { flag: 'wx', mode: FILE_MODE });
      await this.#date(temporary);
      await rename(temporary, file);
    } catch (error) {
      await unlink(temporary).catch(() => {});
      throw error;
    }
    this.#writes += 1;
    if (this.#writes % WRITES_PER_SWEEP === 0) await this.sweep();
  }

  touch(name: string): Promise<void> {
    return this.#date(join(this.#folder, name));
  }

  remove(name: string): Promise<void> {
    return rm(join(this.#folder, name), { force: true });
  }

  /** Deletes expired records, and the oldest of too many. */
  async sweep(): Promise<void> {
    const names = await readdir(this.#folder);
    const dated = await Promise.all(
      names.map(async (name) => {
        const file = join(this.#folder, name);
        return { file, usedAt: (await stat(file).catch(() => undefined))?.mtimeMs ?? 0 };
      }),
    );
    dated.sort((a, b) => b.usedAt - a.usedAt);
    const old = dated.filter(({ usedAt }, place) => place >= MAX_RECORDS || this.#isExpired(usedAt));
    await Promise.all(old.map(({ file }) => rm(file, { force: true })));
  }

  #isExpired(usedAt: number): boolean {
    return this.#clock.now() - usedAt > MAX_AGE_MS;
  }

  #date(file: string): Promise<void> {
    const now = new Date(this.#clock.now());
    return utimes(file, now, now);
  }
}
