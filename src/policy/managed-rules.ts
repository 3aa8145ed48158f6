/**
 * Decides by the managed rules, and by the grants of an allowing rule, whether a server may run, and names the rule.
 * Denies if in doubt.
 */

import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import { loadsCode } from '../config/code-variables.ts';
import {
  isRemote,
  isStdio,
  type RemoteEntry,
  type ServerEntry,
  type ServerSpec,
  type StdioEntry,
} from '../config/entry.ts';
import { type Environment, expandEntry } from '../config/expand.ts';
import { usableLock } from '../config/lock-file.ts';
import type { Managed, ManagedGrants, ManagedMatcher, ManagedRule } from '../config/managed.ts';
import { launchedBy } from '../config/package-launcher.ts';
import { attempt } from '../lib/attempt.ts';
import { findProgram, findPrograms, isExecutable, withoutProject } from '../lib/find-program.ts';
import { matchesUrl } from './url-pattern.ts';

/** Returns the text of the rule that blocks a server; undefined if none does. */
export function blockingRule(spec: ServerSpec, managed: Managed, env: Environment): string | undefined {
  if (managed.closed !== undefined) return managed.closed;
  const { denied: denials, exclusive, allowed } = managed;
  // Most machines have no rules, and expanding every entry takes time in `list --no-connect`.
  const isOpen = denials.length === 0 && exclusive === undefined && allowed === undefined;
  if (isOpen && managed.lockedOnly !== true) return undefined;
  const forms = formsOf(spec, env);
  const denied = managed.denied.find((rule) =>
    forms.some((entry) => matches(rule, spec.name, entry, 'deny')),
  );
  if (denied !== undefined) return `${denied.shown} in ${managed.policyFile} denies it`;
  if (managed.exclusive !== undefined && spec.scope !== 'managed') {
    return `${managed.exclusive} is exclusive and does not list it`;
  }
  // Permission is checked against the program that really runs: the last form, with its variables expanded.
  const real = forms.at(-1) ?? spec.entry;
  if (managed.lockedOnly === true && !isLockedOrManaged(spec, real)) {
    return `lockedOnly in ${managed.policyFile} requires a lock for it`;
  }
  if (managed.allowed === undefined) return undefined;
  const fitting = managed.allowed.filter((rule) => matches(rule, spec.name, real, 'allow'));
  let why: string | undefined;
  for (const { matcher, shown } of fitting) {
    const exceeds = exceedsGrants(matcher, spec, real, env);
    if (exceeds === undefined) return undefined;
    why ??= `${shown} in ${managed.policyFile} does not allow ${exceeds}`;
  }
  return why ?? `allowedServers in ${managed.policyFile} does not list it`;
}

/**
 * True for a server that is locked, remote, built in or part of the program, and for a program of the administrator's
 * own file that is not behind a package launcher.
 */
function isLockedOrManaged(spec: ServerSpec, entry: ServerEntry): boolean {
  if (!isStdio(entry) || spec.builtIn === true) return true;
  if (usableLock(spec, entry) !== undefined) return true;
  return spec.scope === 'managed' && launchedBy(entry).kind === 'program';
}

/** Returns an entry as written and as expanded, so that a variable cannot be used to evade a rule. */
function formsOf(spec: ServerSpec, env: Environment): readonly ServerEntry[] {
  // An entry whose variable is missing cannot start either.
  return attempt(() => [spec.entry, expandEntry(spec, env)], [spec.entry]);
}

function matches(
  { matcher }: ManagedRule,
  name: string,
  entry: ServerEntry,
  effect: 'allow' | 'deny',
): boolean {
  if (matcher.kind === 'name') return matcher.name === name;
  return (matcher.name ?? name) === name && matchesEntry(matcher, entry, effect);
}

function matchesEntry(
  matcher: Exclude<ManagedMatcher, { kind: 'name' }>,
  entry: ServerEntry,
  effect: 'allow' | 'deny',
): boolean {
  if (matcher.kind === 'url') return isRemote(entry) && matchesUrl(matcher.pattern, entry.url, effect);
  if (!isStdio(entry)) return false;
  const words = [entry.command, ...(entry.args ?? [])];
  return words.length === matcher.words.length && words.every((word, at) => word === matcher.words[at]);
}

/** Returns the part of the entry that the rule does not allow, as text for a message; undefined if all is allowed. */
function exceedsGrants(
  matcher: ManagedMatcher,
  spec: ServerSpec,
  entry: ServerEntry,
  env: Environment,
): string | undefined {
  // A rule by name allows any program under that name.
  if (matcher.kind === 'name') return undefined;
  const { grants = {} } = matcher;
  if (isStdio(entry)) return processExceeds(grants, spec, entry, env);
  return isRemote(entry) ? remoteExceeds(grants, entry) : undefined;
}

function processExceeds(
  grants: ManagedGrants,
  spec: ServerSpec,
  entry: StdioEntry,
  env: Environment,
): string | undefined {
  // As written in the entry: we add the variable with the project's folder ourselves.
  const written = isStdio(spec.entry) ? spec.entry : entry;
  const names = [...Object.keys(written.env ?? {}), ...(written.envVars ?? [])];
  const variable = names.find((name) => !mayBeSet(name, grants));
  if (variable !== undefined) return `its variable ${variable}`;
  if (entry.inheritEnv === true && grants.inheritEnv !== true) return 'its "inheritEnv"';
  if (entry.cwd !== undefined && !isListed(grants.cwd, resolve(spec.baseDir, entry.cwd))) return 'its "cwd"';
  return foreignProgram(spec, entry, env);
}

/** True if a variable is listed or, without a list, does not load code. */
function mayBeSet(name: string, { env }: ManagedGrants): boolean {
  if (env === undefined) return !loadsCode(name);
  return env.some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`, 's').test(name);
  });
}

/** Rejects programs by a relative path or found in the project: the rule refers to a program of the system. */
function foreignProgram(
  { baseDir, projectDir = baseDir }: ServerSpec,
  { command, env: own }: StdioEntry,
  env: Environment,
): string | undefined {
  if (isAbsolute(command)) return undefined;
  if (/[/\\]/.test(command)) return 'a program by a relative path';
  // An entry's own search path is used only if the rule lists it.
  const searchPath = own?.['PATH'] ?? env['PATH'] ?? '';
  const [, interpreter] = findPrograms(command, searchPath);
  const names = [command, ...(interpreter === undefined ? [] : [basename(interpreter)])];
  const outside = withoutProject(searchPath, projectDir);
  const foreign = names.find((name) => {
    const found = firstOn(searchPath, name, baseDir);
    return found !== undefined && found !== findProgram(name, outside);
  });
  return foreign === undefined ? undefined : `${foreign} out of ${projectDir}`;
}

/** Finds a program like the system does: folders may be relative to the working folder. */
function firstOn(searchPath: string, command: string, folder: string): string | undefined {
  return searchPath
    .split(delimiter)
    .map((each) => join(resolve(folder, each), command))
    .find(isExecutable);
}

function remoteExceeds(grants: ManagedGrants, entry: RemoteEntry): string | undefined {
  if (entry.headersHelper !== undefined && !isListed(grants.headersHelper, entry.headersHelper)) {
    return 'its "headersHelper"';
  }
  const { authorizationUrl, tokenUrl } = typeof entry.oauth === 'object' ? entry.oauth : {};
  const endpoints = [authorizationUrl, tokenUrl].filter((url) => url !== undefined);
  const isAllowed = (url: string): boolean =>
    grants.oauth === true || (grants.oauth ?? []).some((pattern) => matchesUrl(pattern, url, 'allow'));
  const foreign = endpoints.find((url) => !sameOrigin(url, entry.url) && !isAllowed(url));
  return foreign === undefined
    ? undefined
    : `its login at ${URL.canParse(foreign) ? new URL(foreign).origin : 'another address'}`;
}

function isListed(grant: true | readonly string[] | undefined, value: string): boolean {
  return grant === true || (grant ?? []).includes(value);
}

function sameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}
