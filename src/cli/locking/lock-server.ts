/** Locks one server: resolves its packages, installs them into the store, and writes the lock. */

import type { ServerSpec, Settings, StdioEntry } from '../../config/entry.ts';
import { type LockedServer, scriptsIn } from '../../config/lock-file.ts';
import { minAgeMs } from '../../config/min-age.ts';
import { PlugboardError } from '../../errors.ts';
import { sentences } from '../../lib/sentences.ts';
import { changedFiles, LockStore } from '../../lock/lock-store.ts';
import { oneLine } from '../../policy/clean.ts';
import { isAgreed } from '../ask.ts';
import type { Context } from '../cli-command.ts';
import { forEachServer, isFailed } from './each-server.ts';
import { mistakenFor } from './known-packages.ts';
import { installationOf, type Lockable, lockable, lockFault, type Relocked } from './lockable.ts';

/** How a server was locked. */
export interface Locked {
  readonly name: string;
  /** `locked`: now; `unchanged`: before; `installed` and `repaired`: from the lock that it had. */
  readonly status: 'locked' | 'unchanged' | 'installed' | 'repaired';
  readonly package: string;
  readonly version: string;
  readonly integrity: string;
  readonly published?: string;
  /** The number of packages. */
  readonly packages: number;
  readonly file: string;
  /** Packages with install scripts. */
  readonly scripts?: readonly string[];
  /** Whether these ran. */
  readonly scriptsRan?: boolean;
  /** Files that had been changed in the store. */
  readonly changed?: readonly string[];
  /** Where these are kept until `lock prune`. */
  readonly kept?: string;
  /** A variable that the entry should set: the server stores its data in its own folder otherwise. */
  readonly missingVariable?: string;
}

export interface LockOptions {
  readonly settings: Settings;
  /** Called after a new lock was written. */
  readonly onLocked: (relocked: Relocked) => void;
}

/** Locks a server that has no lock, and installs the one that it has. */
export async function lockServer(
  context: Context,
  server: Lockable,
  { settings, onLocked }: LockOptions,
): Promise<Locked> {
  const { lock: known, spec, env } = server;
  if (known !== undefined) return installKnown(context, server, known);
  // A file that cannot be parsed is not replaced: it has the locks of other servers, too.
  const fault = spec.lock?.kind === 'invalid' && spec.lock.fileHint !== undefined && lockFault(server);
  if (fault) throw fault;
  const { resolvePackages } = await import('../../lock/resolve-packages.ts');
  const { home, signal } = context;
  const before = earliestDate(server, settings);
  const { lock } = await resolvePackages(server.request, { home, env, server: spec.name, signal, before });
  const store = new LockStore(home);
  await store.ready(installationOf(server, lock), { env, server: spec.name, signal });
  const { writeLock } = await import('../../lock/write-lock.ts');
  await writeLock(home, server.place, lock);
  onLocked({ spec, lock });
  return described(server, lock, 'locked');
}

async function installKnown(context: Context, server: Lockable, lock: LockedServer): Promise<Locked> {
  const { home, signal } = context;
  const { env, spec } = server;
  const store = new LockStore(home);
  const installation = installationOf(server, lock);
  const isThere = store.has(installation);
  const changed = isThere ? await store.changes(installation) : [];
  const kept = changed.length > 0 ? await store.setAside(installation) : undefined;
  await store.ready(installation, { env, server: spec.name, signal });
  if (kept !== undefined) return { ...described(server, lock, 'repaired'), changed, kept };
  return described(server, lock, isThere ? 'unchanged' : 'installed');
}

/** Installs servers from the locks that they have; a failure is a note, because the start tries again. */
export async function installLocked(context: Context, specs: readonly ServerSpec[]): Promise<void> {
  const servers = specs.map((spec) => lockable(context, spec)).filter((each) => each.kind === 'lockable');
  const results = await forEachServer(context, 'installing', servers, async (server) =>
    server.lock === undefined ? {} : installKnown(context, server, server.lock),
  );
  for (const result of results.filter(isFailed)) {
    const { name, error } = result;
    context.output.remark(oneLine(`${name} is not installed yet: ${sentences(error.message, error.hint)}`));
  }
}

/** Compares the store with the hashes of the lock. @throws PlugboardError LOCK_MISMATCH */
export async function checkServer(context: Context, server: Lockable): Promise<Locked> {
  const { home, signal } = context;
  const { env, spec, lock } = server;
  const store = new LockStore(home);
  const fault = lockFault(server);
  if (fault !== undefined) throw fault;
  const installation = lock && installationOf(server, lock);
  if (installation === undefined || !store.has(installation)) {
    throw new PlugboardError('LOCK_FAILED', `${spec.name} is locked and not installed`, {
      server: spec.name,
      hint: 'Install it: plugboard lock',
    });
  }
  const recorded = await store.changes(installation);
  const changed =
    recorded.length > 0
      ? recorded
      : ((await store.changesFromLock(installation, { env, server: spec.name, signal })) ?? []);
  if (changed.length > 0) throw changedFiles(installation, changed, spec.name);
  return described(server, installation.lock, 'unchanged');
}

/** Returns the time before which a version must have been published; undefined without a least age. */
export function earliestDate({ entry }: Lockable, settings: Settings): Date | undefined {
  const age = minAgeMs(entry, settings);
  return age === 0 ? undefined : new Date(Date.now() - age);
}

/** Asks about packages whose names look like others. */
export async function checkNames(context: Context, { request, spec }: Lockable, yes: boolean): Promise<void> {
  for (const { name } of request.packages) {
    const [other] = mistakenFor(name);
    if (other === undefined) continue;
    const text = `${spec.name} runs ${name}, which looks like ${other} and is another package`;
    if (yes || context.output.canAsk) {
      if (await isAgreed(context, `${text}. Lock it?`, { yes })) continue;
      throw new PlugboardError('DENIED', `${spec.name} was not locked: ${name} looks like ${other}`, {
        server: spec.name,
        hint: `Change the entry if you meant ${other}.`,
      });
    }
    throw new PlugboardError('APPROVAL_REQUIRED', text, {
      server: spec.name,
      hint: `Change the entry if you meant ${other}, or add --yes if you did not.`,
    });
  }
}

function described({ spec, place, entry }: Lockable, lock: LockedServer, status: Locked['status']): Locked {
  const scripts = scriptsIn(lock);
  return {
    name: spec.name,
    status,
    package: lock.package,
    version: lock.version,
    integrity: lock.integrity,
    ...(lock.published === undefined ? {} : { published: lock.published }),
    packages: Object.keys(lock.packages).length,
    file: place.file,
    ...missingVariable(lock, entry),
    ...(scripts.length === 0 ? {} : { scripts, scriptsRan: entry.installScripts === true }),
  };
}

/** Servers that store data in their own folder, which is read-only, unless a variable names another place. */
const WRITERS: Readonly<Record<string, string>> = {
  '@modelcontextprotocol/server-memory': 'MEMORY_FILE_PATH',
};

function missingVariable(lock: LockedServer, { env = {} }: StdioEntry): Pick<Locked, 'missingVariable'> {
  const variable = WRITERS[lock.package];
  return variable === undefined || env[variable] !== undefined ? {} : { missingVariable: variable };
}
