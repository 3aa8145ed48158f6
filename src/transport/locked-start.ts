/** Plans the start of a locked server: the program of its package in the store, without a launcher. */

import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { ServerSpec, StdioEntry } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { type LockedServer, lockMismatch, type ServerLock } from '../config/lock-file.ts';
import { launchedBy, type PackageRequest } from '../config/package-launcher.ts';
import { PlugboardError } from '../errors.ts';
import { parseRecord } from '../lib/json.ts';
import { shellWord } from '../lib/shell-word.ts';
import { type Installation, LockStore } from '../lock/lock-store.ts';
import { defaultBin } from './npx-package.ts';
import type { PlannedStart } from './package-starts.ts';
import type { LaunchPlan } from './plan-launch.ts';
import { OWNER_VARIABLE, type Reaper } from './reaper.ts';

export interface LockedStartOptions {
  readonly spec: ServerSpec;
  /** With its variables expanded. */
  readonly entry: StdioEntry;
  readonly home: Home;
  readonly reaper?: Reaper | undefined;
}

/**
 * Returns the launch of a locked server, after its files were compared with their record.
 *
 * @throws PlugboardError LOCK_MISMATCH if the lock is for another entry, or a file was changed
 */
export async function planLocked(
  planned: LaunchPlan,
  lock: ServerLock,
  { spec, entry, home, reaper }: LockedStartOptions,
): Promise<PlannedStart> {
  const { request, installation } = lockedRequest(spec.name, lock, entry);
  const store = new LockStore(home);
  const onSpawn = reaper && ((pid: number) => registered(reaper, pid));
  const env = reaper === undefined ? planned.env : { ...planned.env, [OWNER_VARIABLE]: reaper.mark() };
  const folder = await store.ready(installation, { env, server: spec.name, onSpawn });
  const launch = programOf(folder, planned, request, { server: spec.name, lock: installation.lock });
  const { package: name, version } = installation.lock;
  return { launch, note: `Started ${name} ${version} as locked in ${lock.file}.`, installed: folder };
}

/** Returns the packages of a locked entry and where they are installed. @throws PlugboardError LOCK_MISMATCH */
export function lockedRequest(
  name: string,
  lock: ServerLock,
  entry: StdioEntry,
): { readonly request: PackageRequest; readonly installation: Installation } {
  if (lock.kind === 'invalid') throw mismatch(name, `${lock.file}: ${lock.reason}`, lock.fileHint);
  const launched = launchedBy(entry);
  if (launched.kind !== 'npm')
    throw mismatch(name, `the lock in ${lock.file} is for a package, and the entry runs none`);
  const why = lockMismatch(lock.server, launched.request);
  if (why !== undefined) throw mismatch(name, `the lock in ${lock.file} is for another entry: ${why}`);
  const installation = { lock: lock.server, file: lock.file, scripts: entry.installScripts === true };
  return { request: launched.request, installation };
}

/** Returns the launch of the requested program in an installed folder. */
export function programOf(
  folder: string,
  planned: LaunchPlan,
  { program, args }: PackageRequest,
  { server, lock }: { readonly server: string; readonly lock: LockedServer },
): LaunchPlan {
  const manifest = parseRecord(
    readFileSync(join(folder, 'node_modules', lock.package, 'package.json'), 'utf8'),
  );
  const bin = program ?? defaultBin(manifest ?? {});
  const binFolder = join(folder, 'node_modules', '.bin');
  const command = bin === undefined ? undefined : join(binFolder, bin);
  if (command === undefined || !existsSync(command)) {
    throw new PlugboardError(
      'START_FAILED',
      bin === undefined
        ? `${lock.package} ${lock.version} has no program that could be started`
        : `${lock.package} ${lock.version} has no program called ${bin}`,
      { server, hint: 'Name the program: npx -y -p <package> <program>.', detail: { permanent: true } },
    );
  }
  const { PATH = '' } = planned.env;
  // As with npx: a server may start programs of its dependencies.
  const env = { ...planned.env, PATH: PATH === '' ? binFolder : `${binFolder}${delimiter}${PATH}` };
  return { ...planned, command, args, env };
}

function registered(reaper: Reaper, pid: number): () => void {
  reaper.add(pid);
  return () => reaper.remove(pid);
}

function mismatch(server: string, why: string, hint?: string): PlugboardError {
  return new PlugboardError('LOCK_MISMATCH', `${server} was not started: ${why}`, {
    server,
    detail: { permanent: true },
    hint: hint ?? {
      commands: `Review the change, then lock it again: plugboard lock ${shellWord(server)}`,
      library: `Review the change; the person can lock it again with plugboard lock ${shellWord(server)}.`,
    },
  });
}
