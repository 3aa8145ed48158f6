/**
 * The store of locked packages: one read-only folder for each lock, named by a hash of it. A folder is compared with
 * its record before each start, and installed from the lock if it is missing.
 */

import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Home } from '../config/home.ts';
import { lockDigest } from '../config/lock-digest.ts';
import { type LockedServer, packageAt } from '../config/lock-file.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';
import { counted } from '../lib/counted.ts';
import { isRecord, type JsonObject, parseRecord } from '../lib/json.ts';
import { lockFileFor, withFileLock } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { shellWord } from '../lib/shell-word.ts';
import type { NpmOptions } from './run-npm.ts';
import {
  differingFiles,
  makeReadOnly,
  removeTree,
  type TreeContent,
  treeContent,
  treeStamp,
} from './tree-files.ts';

/** Longer than the clock of a file system takes to advance, so that a later write has a later time. */
const SETTLE_MS = 50;
/** Another process may be installing the same tree. */
const INSTALL_WAIT_MS = 600_000;
const MAX_FILES_NAMED = 3;
const KEY_CHARS = 40;

/** One installation: a lock, and whether its scripts run. */
export interface Installation {
  readonly lock: LockedServer;
  /** The file of the lock: `prune` keeps what it refers to. */
  readonly file: string;
  readonly scripts: boolean;
}

/** How npm is run if the packages have to be installed. */
export type InstallOptions = Omit<NpmOptions, 'cwd'>;

/** The record of an installed folder, next to it. */
interface StoreRecord {
  readonly package: string;
  readonly version: string;
  /** The lock files that this folder was started or installed from. */
  readonly files: readonly string[];
  /** The stat of every file, as one hash. */
  readonly stamp: string;
}

export class LockStore {
  readonly #folder: string;
  readonly #lockDir: string;

  constructor(home: Home) {
    this.#folder = join(home.store, 'npm');
    this.#lockDir = join(home.run, 'locks');
  }

  /** Returns the folder of an installation, present or not. */
  folderOf(installation: Installation): string {
    return join(this.#folder, keyOf(installation));
  }

  /**
   * Returns the folder of an installation after it was compared with its record; installs it if it is missing.
   *
   * @throws PlugboardError LOCK_MISMATCH if a file was changed
   */
  async ready(installation: Installation, options: InstallOptions): Promise<string> {
    const folder = this.folderOf(installation);
    const record = this.#recordOf(folder);
    if (record === undefined || !existsSync(folder)) return this.#install(installation, options);
    if (record.stamp !== (await treeStamp(folder))) {
      const changed = await this.#compare(folder);
      if (changed.length > 0) throw changedFiles(installation, changed, options.server);
    }
    if (!record.files.includes(installation.file)) this.#addFile(folder, installation.file);
    return folder;
  }

  /** True if the packages are in the store; they may still have been changed. */
  has(installation: Installation): boolean {
    const folder = this.folderOf(installation);
    return this.#recordOf(folder) !== undefined && existsSync(folder);
  }

  /** Returns the files of an installation that differ from its record, by content. */
  async changes(installation: Installation): Promise<readonly string[]> {
    return this.#compare(this.folderOf(installation));
  }

  /**
   * Installs the packages of the lock again, apart from the store, and returns the files of the store that differ: the
   * hashes of the lock are then the only thing that is trusted. Undefined if scripts may have changed files.
   */
  async changesFromLock(
    installation: Installation,
    options: InstallOptions,
  ): Promise<readonly string[] | undefined> {
    if (installation.scripts) return undefined;
    const fresh = await this.#installApart(installation, options);
    try {
      await makeReadOnly(fresh);
      return differingFiles(await treeContent(fresh), await treeContent(this.folderOf(installation)));
    } finally {
      await removeTree(fresh);
    }
  }

  /**
   * Moves a changed installation aside, so that it is installed again, and returns where it is kept until `prune`: a
   * server may have stored data in its own folder.
   */
  async setAside(installation: Installation): Promise<string> {
    const folder = this.folderOf(installation);
    const kept = `${folder}.old-${randomBytes(4).toString('hex')}`;
    renameSync(folder, kept);
    await this.#removeKey(keyOf(installation));
    return kept;
  }

  /** Removes the folders that no lock file refers to; returns their packages. */
  async prune(
    isUsed: (file: string, key: string) => Promise<boolean>,
  ): Promise<readonly { readonly package: string; readonly version: string }[]> {
    const removed: { package: string; version: string }[] = [];
    for (const name of attempt(() => readdirSync(this.#folder), [])) {
      const [, key] = /^([0-9a-f]{40})$/.exec(name) ?? [];
      if (key === undefined) {
        // Set aside, of an installation that was interrupted, or a record without its folder.
        const isLeft =
          /^\.new-|\.old-/.test(name) || !existsSync(join(this.#folder, name.slice(0, KEY_CHARS)));
        if (isLeft) await removeTree(join(this.#folder, name));
        continue;
      }
      const record = this.#recordOf(join(this.#folder, key));
      const uses = await Promise.all((record?.files ?? []).map((file) => isUsed(file, key)));
      if (uses.includes(true)) continue;
      await this.#removeKey(key);
      removed.push({ package: record?.package ?? key, version: record?.version ?? '' });
    }
    return removed;
  }

  async #install(installation: Installation, options: InstallOptions): Promise<string> {
    const folder = this.folderOf(installation);
    await makeFolder(this.#folder, 0o700);
    const work = async (): Promise<string> => {
      // Another process may have installed it while this one waited.
      if (this.has(installation)) return folder;
      await removeTree(folder);
      const fresh = await this.#installApart(installation, options);
      try {
        await makeReadOnly(fresh);
        renameSync(fresh, folder);
      } catch (error) {
        await removeTree(fresh);
        throw error;
      }
      await this.#record(installation);
      return folder;
    };
    const { signal } = options;
    return withFileLock(lockFileFor(this.#lockDir, folder), work, { signal, waitMs: INSTALL_WAIT_MS });
  }

  /** Installs the packages into a new folder of the store. */
  async #installApart({ lock, scripts }: Installation, options: InstallOptions): Promise<string> {
    const { runNpm } = await import('./run-npm.ts');
    const folder = join(this.#folder, `.new-${randomBytes(8).toString('hex')}`);
    await makeFolder(this.#folder, 0o700);
    await mkdir(folder, { mode: 0o755 });
    try {
      await writeFile(join(folder, 'package.json'), JSON.stringify(rootOf(lock)));
      await writeFile(join(folder, 'package-lock.json'), JSON.stringify(npmLockOf(lock)));
      const install = ['ci', scripts ? '--ignore-scripts=false' : '--ignore-scripts'];
      const where = { ...options, cwd: folder };
      // The cache of npm may have a list of versions from before this one was published.
      await runNpm([...install, '--prefer-offline'], where).catch((error: unknown) => {
        if (asPlugboardError(error).code !== 'LOCK_FAILED') throw error;
        return runNpm(install, where);
      });
      checkTree(folder, lock, options.server);
      return folder;
    } catch (error) {
      await removeTree(folder);
      throw error;
    }
  }

  async #record({ lock, file, ...installation }: Installation): Promise<void> {
    const folder = this.folderOf({ lock, file, ...installation });
    await delay(SETTLE_MS);
    const stamp = await treeStamp(folder);
    const content = await treeContent(folder);
    if (stamp === undefined || stamp !== (await treeStamp(folder))) {
      throw new PlugboardError('LOCK_FAILED', `${folder} changed while it was installed`, {
        hint: 'Try again.',
      });
    }
    writeFileSync(contentFile(folder), JSON.stringify(content), { mode: 0o600 });
    this.#write(folder, { package: lock.package, version: lock.version, files: [file], stamp });
  }

  /** Compares the content of a folder with its record; an unchanged folder gets a new stamp. */
  async #compare(folder: string): Promise<readonly string[]> {
    const record = this.#recordOf(folder);
    const known = readContent(folder);
    if (record === undefined || known === undefined) return ['(its record is missing)'];
    const stamp = await treeStamp(folder);
    let now: TreeContent;
    try {
      now = await treeContent(folder);
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
    const changed = differingFiles(known, now);
    if (changed.length > 0 || stamp === undefined || stamp !== (await treeStamp(folder))) return changed;
    // The files were copied or restored: the content is the same, and the times are not.
    if (stamp !== record.stamp) {
      await delay(SETTLE_MS);
      if (stamp === (await treeStamp(folder))) this.#write(folder, { ...record, stamp });
    }
    return [];
  }

  #addFile(folder: string, file: string): void {
    const record = this.#recordOf(folder);
    // Without it, `prune` removes the folder, which is then installed again.
    if (record) attempt(() => this.#write(folder, { ...record, files: [...record.files, file] }), undefined);
  }

  async #removeKey(key: string): Promise<void> {
    const folder = join(this.#folder, key);
    for (const file of [recordFile(folder), contentFile(folder), folder]) await removeTree(file);
  }

  #recordOf(folder: string): StoreRecord | undefined {
    const value = attempt(() => parseRecord(readFileSync(recordFile(folder), 'utf8')), undefined);
    if (value === undefined) return undefined;
    const { package: name, version, files, stamp } = value;
    if (typeof name !== 'string' || typeof version !== 'string' || typeof stamp !== 'string')
      return undefined;
    return { package: name, version, stamp, files: Array.isArray(files) ? files.map(String) : [] };
  }

  #write(folder: string, record: StoreRecord): void {
    const temporary = `${recordFile(folder)}.${randomBytes(4).toString('hex')}`;
    writeFileSync(temporary, JSON.stringify(record), { mode: 0o600 });
    renameSync(temporary, recordFile(folder));
  }
}

/** The name of an installation's folder: what is installed depends on the lock, the system and the scripts. */
export function keyOf({ lock, scripts }: Pick<Installation, 'lock' | 'scripts'>): string {
  const parts = [
    lockDigest(lock),
    process.platform,
    process.arch,
    scripts ? `scripts ${process.versions.modules}` : '',
  ];
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, KEY_CHARS);
}

function recordFile(folder: string): string {
  return `${folder}.json`;
}

function contentFile(folder: string): string {
  return `${folder}.files.json`;
}

function readContent(folder: string): TreeContent | undefined {
  const value = attempt(() => parseRecord(readFileSync(contentFile(folder), 'utf8')), undefined);
  return value && Object.fromEntries(Object.entries(value).map(([path, each]) => [path, String(each)]));
}

/** The manifest that npm compares with the lock: the packages of the entry, in exact versions. */
function rootOf({ requested, package: main, packages }: LockedServer): JsonObject {
  const names = new Set([main, ...requested.map((spec) => spec.replace(/(.)@.*$/, '$1'))]);
  const dependencies = [...names].map((name) => [name, packages[`node_modules/${name}`]?.version]);
  return { name: 'locked', private: true, dependencies: Object.fromEntries(dependencies) };
}

function npmLockOf(lock: LockedServer): JsonObject {
  const root = rootOf(lock);
  return { name: 'locked', lockfileVersion: 3, requires: true, packages: { '': root, ...lock.packages } };
}

/** Checks that npm installed packages of the lock only; those of other systems are missing. */
function checkTree(folder: string, { packages }: LockedServer, server: string): void {
  const text = attempt(() => readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8'), '');
  const { packages: installed } = parseRecord(text) ?? {};
  if (!isRecord(installed)) {
    throw new PlugboardError('LOCK_FAILED', 'npm did not record what it installed', {
      server,
      hint: 'Update npm to version 7 or later.',
    });
  }
  for (const [path, each] of Object.entries(installed)) {
    const { version, integrity } = isRecord(each) ? each : {};
    const locked = packages[path];
    if (locked !== undefined && locked.version === version && locked.integrity === integrity) continue;
    throw new PlugboardError(
      'LOCK_MISMATCH',
      `npm installed ${packageAt(path)} ${String(version)}, which is not in the lock of ${server}`,
      { server, hint: `Lock it again: plugboard update ${shellWord(server)}` },
    );
  }
}

/** The error for files that were changed after they were installed. */
export function changedFiles(
  { lock }: Installation,
  changed: readonly string[],
  server: string,
): PlugboardError {
  const named = changed.slice(0, MAX_FILES_NAMED).join(', ');
  const more = changed.length - MAX_FILES_NAMED;
  const files = `${named}${more > 0 ? ` and ${counted(more, 'more file')}` : ''}`;
  return new PlugboardError(
    'LOCK_MISMATCH',
    `${server} cannot be started: files of ${lock.package} ${lock.version} changed after they were installed: ${files}`,
    {
      server,
      detail: { permanent: true },
      hint: {
        commands: `Find out what changed them, then install them again: plugboard lock ${shellWord(server)}. A server that stores data in its own folder needs another place for it.`,
        library: `Find out what changed them; the person can install them again with plugboard lock ${shellWord(server)}.`,
      },
    },
  );
}
