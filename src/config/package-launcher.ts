/** Parses the command lines of launchers that download a package and run it: `npx`, `bunx`, `pnpm dlx`, `uvx`, … */

import type { StdioEntry } from './entry.ts';

/** A version of npm without a range or a tag. */
export const EXACT_VERSION: RegExp = /^\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/;
/** Packages of the registry only: no path, url, repository or alias. */
const SPEC = /^((?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*)(?:@([^\s/:]+))?$/i;

/** A package as a command line names it. */
export interface PackageSpec {
  /** As given. */
  readonly raw: string;
  readonly name: string;
  /** A version, a range or a tag; '' if there is none. */
  readonly version: string;
}

/** The packages that a launcher is asked for, and the program that it runs. */
export interface PackageRequest {
  readonly packages: readonly PackageSpec[];
  /** The program after `-p`; undefined for the default program of the package. */
  readonly program: string | undefined;
  readonly args: readonly string[];
  /** The value of `--prefix`. */
  readonly prefix: string | undefined;
}

/** The packages of an entry, or why they cannot be locked. */
export type Launched =
  | { readonly kind: 'npm'; readonly request: PackageRequest }
  /** A launcher that downloads something that has no lock yet. */
  | { readonly kind: 'unsupported'; readonly reason: string }
  /** A program of this machine. */
  | { readonly kind: 'program' };

/** The arguments that precede the package, for each launcher of npm packages. */
const NPM_LAUNCHERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  npx: [[]],
  bunx: [[]],
  pnpx: [[]],
  pnpm: [['dlx']],
  yarn: [['dlx']],
  bun: [['x']],
  npm: [['exec'], ['x']],
};

const OTHER_LAUNCHERS: readonly (readonly [launcher: RegExp, args: readonly string[], reason: string])[] = [
  [/^uvx$/, [], 'packages of uv cannot be locked yet'],
  [/^uv$/, ['tool', 'run'], 'packages of uv cannot be locked yet'],
  [/^pipx$/, ['run'], 'packages of pipx cannot be locked yet'],
  [/^(?:docker|podman)$/, ['run'], 'images of containers cannot be locked yet'],
];

/** Returns how an entry with expanded variables is launched. */
export function launchedBy({ command, args = [] }: Pick<StdioEntry, 'command' | 'args'>): Launched {
  const launcher = launcherName(command);
  const lead = NPM_LAUNCHERS[launcher]?.find((words) => startsWith(args, words));
  if (lead !== undefined) {
    const given = args.slice(lead.length);
    const request = launcher === 'npm' ? npmExecRequest(given) : npxRequest(given);
    if (request !== undefined) return { kind: 'npm', request };
    const reason = `the arguments of ${[launcher, ...lead].join(' ')} do not name a package of a registry, or have options that a lock does not cover`;
    return { kind: 'unsupported', reason };
  }
  const other = OTHER_LAUNCHERS.find(([name, words]) => name.test(launcher) && startsWith(args, words));
  return other === undefined ? { kind: 'program' } : { kind: 'unsupported', reason: other[2] };
}

/** True for a command that starts a launcher of npm packages, whatever its arguments are. */
export function isNpmLauncher(command: string): boolean {
  return Object.hasOwn(NPM_LAUNCHERS, launcherName(command));
}

const WITHOUT_VALUE: ReadonlySet<string> = new Set(['-y', '--yes', '-q', '--quiet', '-s', '--silent']);

/** Parses the arguments of `npx`; undefined for options that are not known here. */
export function npxRequest(given: readonly string[]): PackageRequest | undefined {
  const named: string[] = [];
  let prefix: string | undefined;
  let at = 0;
  while (given[at]?.startsWith('-') === true) {
    const [name, inline] = splitOption(given[at] ?? '');
    at += 1;
    if (name === '--') break;
    if (WITHOUT_VALUE.has(name) && inline === undefined) continue;
    const value = inline ?? given[at] ?? '';
    if (inline === undefined) at += 1;
    if (name === '-p' || name === '--package') named.push(value);
    else if (name === '--prefix' && prefix === undefined) prefix = value;
    else return undefined;
  }
  const [first, ...args] = given.slice(at);
  if (first === undefined || (named.length > 0 && !isProgramName(first))) return undefined;
  const packages = (named.length > 0 ? named : [first]).flatMap(packageSpec);
  if (packages.length !== Math.max(named.length, 1)) return undefined;
  return { packages, program: named.length > 0 ? first : undefined, args, prefix };
}

/** Unlike npx, `npm exec` reads options after the package too, up to `--`. */
function npmExecRequest(given: readonly string[]): PackageRequest | undefined {
  const request = npxRequest(given);
  if (request === undefined || isAfterDashes(given, request)) return request;
  const [first, ...rest] = request.args;
  if (first === '--') return { ...request, args: rest };
  return request.args.some((arg) => arg.startsWith('-')) ? undefined : request;
}

function isAfterDashes(given: readonly string[], { args }: PackageRequest): boolean {
  const dashes = given.indexOf('--');
  return dashes !== -1 && dashes < given.length - args.length - 1;
}

/** A package of the registry, in a list; an empty list for a path, url, repository or alias. */
function packageSpec(raw: string): readonly PackageSpec[] {
  const [, name, version = ''] = SPEC.exec(raw) ?? [];
  return name === undefined ? [] : [{ raw, name, version }];
}

/** True for the name of a package of the registry, without a version. */
export function isPackageName(text: string): boolean {
  return SPEC.exec(text)?.[1] === text;
}

/** True for a name without a path. */
export function isProgramName(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !/[\\/]/.test(text);
}

function launcherName(command: string): string {
  const base = command.split(/[\\/]/).at(-1) ?? '';
  return base.replace(/\.(?:cmd|exe|bat)$/i, '');
}

function startsWith(args: readonly string[], words: readonly string[]): boolean {
  return words.every((word, at) => args[at] === word);
}

function splitOption(word: string): readonly [name: string, value?: string] {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  return equals === -1 ? [word] : [word.slice(0, equals), word.slice(equals + 1)];
}
