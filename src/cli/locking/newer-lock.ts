/** Resolves the packages of a locked server again, and compares them with its lock. */

import type { Settings } from '../../config/entry.ts';
import type { LockedServer } from '../../config/lock-file.ts';
import { PlugboardError } from '../../errors.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { isLower, type PackageChange, packageChanges } from '../../lock/lock-difference.ts';
import { resolvePackages } from '../../lock/resolve-packages.ts';
import type { Context } from '../cli-command.ts';
import { earliestDate } from './lock-server.ts';
import { type Lockable, lockFault } from './lockable.ts';

export interface Newer {
  readonly server: Lockable;
  readonly before: LockedServer;
  /** What the entry would be locked to now; the same lock if there is nothing newer. */
  readonly after: LockedServer;
  readonly isNewer: boolean;
  /** The version with the tag `latest`. */
  readonly latest: string | undefined;
  readonly changes: readonly PackageChange[];
}

export async function newerLock(
  { home, signal }: Context,
  server: Lockable,
  { settings }: { readonly settings: Settings },
): Promise<Newer> {
  const { env, spec, request, lock: before } = server;
  if (before === undefined)
    throw lockFault(server) ?? new PlugboardError('INTERNAL', `${spec.name} is not locked`);
  const date = earliestDate(server, settings);
  const options = { home, env, server: spec.name, signal, before: date };
  const { lock, latest } = await resolvePackages(request, options);
  const isSame = canonicalJson(lock.packages) === canonicalJson(before.packages);
  // With `minAge`, the newest version that is old enough can be older than the locked one.
  const isNewer = !isSame && !isLower(lock.version, before.version);
  const after = isNewer ? lock : before;
  return { server, before, after, isNewer, latest, changes: packageChanges(before, after) };
}
