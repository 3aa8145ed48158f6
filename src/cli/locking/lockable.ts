/** Selects the servers that can be locked, and says why others cannot. */

import { isDeepStrictEqual } from 'node:util';
import { isStdio, type ServerSpec, type StdioEntry } from '../../config/entry.ts';
import { expandEntry } from '../../config/expand.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { type LockedServer, type LockPlace, lockPlace, usableLock } from '../../config/lock-file.ts';
import { launchedBy, type PackageRequest } from '../../config/package-launcher.ts';
import { isEditable, isForeign } from '../../config/scopes.ts';
import { asPlugboardError, PlugboardError } from '../../errors.ts';
import { attempt } from '../../lib/attempt.ts';
import { shellWord } from '../../lib/shell-word.ts';
import type { Installation } from '../../lock/lock-store.ts';
import { admit } from '../../policy/admit.ts';
import { findServer } from '../../setup/known-server.ts';
import { lockedRequest } from '../../transport/locked-start.ts';
import { serverEnvironment } from '../../transport/server-environment.ts';
import type { Context } from '../cli-command.ts';
import { trustDecisions } from '../config-report.ts';

/** A server whose packages can be locked. */
export interface Lockable {
  readonly kind: 'lockable';
  readonly spec: ServerSpec;
  /** With its variables expanded where that is possible without a question. */
  readonly entry: StdioEntry;
  readonly request: PackageRequest;
  readonly place: LockPlace;
  /** The environment of the server, in which npm runs. */
  readonly env: Readonly<Record<string, string>>;
  /** The lock that fits the entry; undefined if there is none. */
  readonly lock: LockedServer | undefined;
}

export interface NotLockable {
  readonly kind: 'not-lockable';
  readonly spec: ServerSpec;
  readonly reason: string;
  /** A program or remote server, for which no lock is expected. */
  readonly isOther: boolean;
}

/** Returns the named servers, or all. */
export async function chosenServers(
  context: Context,
  config: LoadedConfig,
  names: readonly string[],
): Promise<readonly (Lockable | NotLockable)[]> {
  const specs =
    names.length === 0 ? config.servers : [...new Set(names)].map((name) => findServer(config, name));
  const verdicts = await trustDecisions(specs, context);
  // A server that only lacks its lock must not be refused for that here.
  const { lockedOnly: _, ...managed } = config.managed;
  return specs.map((spec) => {
    const found = lockable(context, spec);
    if (found.kind !== 'lockable') return found;
    const admission = admit(spec, verdicts.get(spec.name), { managed, env: context.env });
    if (!('error' in admission)) return found;
    return { kind: 'not-lockable', spec, reason: admission.error.message, isOther: false };
  });
}

export function lockable({ env, home }: Context, spec: ServerSpec): Lockable | NotLockable {
  const no = (reason: string, isOther = false): NotLockable => ({
    kind: 'not-lockable',
    spec,
    reason,
    isOther,
  });
  if (!isStdio(spec.entry)) return no('it is not started on this machine', true);
  const expanded = attempt(() => expandEntry(spec, env), spec.entry);
  const entry = isStdio(expanded) ? expanded : spec.entry;
  const launched = launchedBy(entry);
  if (launched.kind === 'program') return no('it is a program of this machine, not a package', true);
  if (launched.kind === 'unsupported') return no(launched.reason);
  const place = lockPlace(spec);
  if (place === undefined || home.isNone) return no('its entry is not in a file');
  if (!isEditable(spec.scope) && spec.lock === undefined) {
    return no(`its entry is in ${spec.scope} scope, which commands do not write`);
  }
  return {
    kind: 'lockable',
    spec,
    entry,
    request: launched.request,
    place,
    env: serverEnvironment(spec, entry, env),
    lock: usableLock(spec, entry),
  };
}

export function installationOf({ entry, place }: Lockable, lock: LockedServer): Installation {
  return { lock, file: place.file, scripts: entry.installScripts === true };
}

/** A server and the lock that this person has just given it. */
export interface Relocked {
  readonly spec: ServerSpec;
  readonly lock: LockedServer;
}

/** Approves project entries again after this person changed their locks: exactly the locks that were written. */
export async function keepApproval(context: Context, relocked: readonly Relocked[]): Promise<void> {
  const foreign = relocked.filter(({ spec }) => isForeign(spec));
  if (foreign.length === 0) return;
  const [{ loadConfig }, { consentStore }, { lockDigest }] = await Promise.all([
    import('../../config/load.ts'),
    import('../config-report.ts'),
    import('../../config/lock-digest.ts'),
  ]);
  const { servers, shadowed } = await loadConfig({ cwd: context.cwd, home: context.home });
  const now = [...servers, ...shadowed].filter((each) =>
    foreign.some(
      ({ spec: { name, scope, file, raw }, lock }) =>
        each.name === name &&
        each.scope === scope &&
        each.file === file &&
        isDeepStrictEqual(each.raw, raw) &&
        each.lock?.kind === 'locked' &&
        lockDigest(each.lock.server) === lockDigest(lock),
    ),
  );
  await (await consentStore(context)).grant(now);
}

/** Returns why a server does not start with the lock that it has; undefined if it does, or has none. */
export function lockFault({ spec, entry, lock }: Lockable): PlugboardError | undefined {
  if (lock !== undefined || spec.lock === undefined) return undefined;
  try {
    lockedRequest(spec.name, spec.lock, entry);
    return undefined;
  } catch (thrown) {
    return asPlugboardError(thrown);
  }
}

/**
 * Returns the servers with a lock among the chosen ones, usable or not.
 *
 * @throws PlugboardError USAGE if a named one is not locked
 */
export function lockedAmong(
  chosen: readonly (Lockable | NotLockable)[],
  names: readonly string[],
): readonly Lockable[] {
  const locked = chosen
    .filter((each) => each.kind === 'lockable')
    .filter(({ spec }) => spec.lock !== undefined);
  const other = chosen.find((each) => names.includes(each.spec.name) && !locked.some((one) => one === each));
  if (other === undefined) return locked;
  const { name } = other.spec;
  const why = other.kind === 'lockable' ? '' : `: ${other.reason}`;
  throw new PlugboardError('USAGE', `${name} is not locked${why}`, {
    server: name,
    hint: other.kind === 'lockable' ? `Lock it: plugboard lock ${shellWord(name)}` : undefined,
  });
}
