/**
 * Confines a server's process on Linux with bubblewrap, which needs no privileges.
 *
 * The process gets its own namespaces, including a user namespace, and no capabilities, even for root. It keeps its
 * marked environment, so the reaper still finds it; its process namespace ends with it, and `--die-with-parent` ends
 * both with us.
 *
 * Landlock would also block abstract sockets for a process with network, but no maintained npm package provides it.
 */

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { findHome, type Home } from '../config/home.ts';
import { PlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';
import { isInside, realPath } from '../lib/inside.ts';
import { isRecord, type JsonObject, parseRecord } from '../lib/json.ts';
import type { SandboxRules } from './sandbox.ts';
import { isNarrow } from './sandbox-installation.ts';
import { protect, protectionOf, RESERVED, type Unprotectable } from './sandbox-protected.ts';
import { holdStandIns, type Release } from './sandbox-stand-ins.ts';
import { listed, viewOf } from './sandbox-view.ts';

/** Own namespaces and no capabilities; also for root, whose capabilities would be those of the machine. */
const NO_RIGHTS = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--cap-drop',
  'ALL',
  '--new-session',
  '--die-with-parent',
];

/** From bubblewrap 0.8 on: no nested user namespaces, through which most kernel vulnerabilities are reached. */
const NO_NESTING = '--disable-userns';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** The environment of the process. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Confinement {
  readonly rules: SandboxRules;
  /** Our environment: its PATH locates bubblewrap, and its HOME is hidden. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly project: string;
  /** Plugboard's home folder, which is hidden. */
  readonly home?: Home | undefined;
  /** The folder of a locked program in Plugboard's home, which is visible. */
  readonly installed?: string | undefined;
  /** Values of the entry's variables: files that they name are visible. */
  readonly named?: readonly string[] | undefined;
}

export interface Confined extends Program {
  readonly env: Readonly<Record<string, string>>;
  /** Call it when the process has ended. */
  readonly release: Release;
}

/**
 * Returns the command that runs `program` in its sandbox; rejects if that is not possible, and never runs it
 * unconfined.
 */
export async function confine(program: Program, confinement: Confinement): Promise<Confined> {
  const { rules, env, cwd } = confinement;
  const helper = findHelper(confinement);
  const person = personOf(env);
  const home = confinement.home ?? findHome(env);
  const project = realPath(confinement.project);
  const own = program.env ?? {};
  const {
    command,
    args,
    env: more,
  } = confinedLauncher(program, { network: rules.network, person, env: own });
  const words = [...args, ...(confinement.named ?? [])];
  const { installed } = confinement;
  const view = { rules, command, words, env: own, cwd, project, person, own: realPath(home.dir), installed };
  const folders = writableFolders(rules, { project, person });
  if (folders.some((folder) => !isNarrow(folder, person))) {
    throw unavailable(
      'it would let the server write to all of your home folder',
      'Start it in a project, or list folders: { "filesystem": { "write": ["path"] } }.',
    );
  }
  const protections = await Promise.all(
    folders.map(async (folder) => {
      return protectable(await protectionOf(folder, listed(rules, 'write', view), env));
    }),
  );
  const releases: Release[] = [];
  const release = async (): Promise<void> => {
    await Promise.all(releases.map((each) => each()));
  };
  try {
    for (const { folder, missing } of protections) {
      const names = new Map([...(folder === project ? RESERVED : []), ...missing]);
      if (names.size > 0) releases.push(await holdStandIns(home, folder, names));
    }
    const mounts = viewOf(view);
    for (const protection of protections) protectable(protect(mounts, protection));
    if (folders.length > 0) mounts.holdInPlace();
    const limits = [
      ...NO_RIGHTS,
      ...(rules.network ? [] : ['--unshare-net']),
      ...mounts.args(),
      // For root, files in /proc change kernel settings.
      '--remount-ro',
      '/proc',
      ...(rules.filesystem === 'all' ? [] : ['--remount-ro', '/']),
      '--chdir',
      cwd,
    ];
    const nesting = await checked(helper, limits);
    return {
      command: helper,
      args: [...nesting, ...limits, '--', command, ...args],
      env: { ...own, ...more },
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Throws if a folder cannot be protected. */
function protectable<T extends object>(result: T | Unprotectable): T {
  if (!('unprotectable' in result)) return result;
  throw unavailable(
    result.unprotectable,
    'Replace links by plain files or folders, or list folders: { "filesystem": { "write": ["path"] } }.',
  );
}

/** Returns the writable folders that also contain files of other programs. */
function writableFolders(
  rules: SandboxRules,
  { project, person }: { readonly project: string; readonly person: string },
): readonly string[] {
  if (rules.filesystem === 'all') return [];
  if (rules.filesystem === 'project') return [project];
  return listed(rules, 'write', { project, person })
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path));
}

/** Returns the options with which the sandbox works here; rejects if there are none. */
async function checked(helper: string, limits: readonly string[]): Promise<readonly string[]> {
  let failure = '';
  for (const nesting of [[NO_NESTING], []]) {
    const attempt = await tryToBreakOut(helper, [...nesting, ...limits]);
    if ('held' in attempt) return nesting;
    if ('escaped' in attempt) {
      throw unavailable(
        `bubblewrap does not confine here: ${attempt.escaped}`,
        'Update bubblewrap and the kernel, or run Plugboard as a normal user.',
      );
    }
    failure = attempt.failed;
  }
  throw unavailable(
    `bubblewrap cannot make one here${failure ? ` (${failure})` : ''}`,
    'The system has to allow user namespaces; inside a container that is a setting of the container.',
  );
}

function findHelper({ env, project }: Confinement): string {
  if (process.platform !== 'linux') {
    throw unavailable(
      `there is none for ${process.platform} yet`,
      'Take "sandbox" out of the entry, or run it on Linux.',
    );
  }
  // Searched in our own PATH, never in the project: a project must not provide its own sandbox.
  const folders = ['/usr/bin', '/bin', ...(env['PATH'] ?? '').split(delimiter)];
  const helper = folders
    .filter((folder) => isAbsolute(folder) && !isInside(realPath(folder), realPath(project)))
    .map((folder) => join(folder, 'bwrap'))
    .find((file) => existsSync(file));
  if (helper !== undefined) return helper;
  throw unavailable(
    'bubblewrap is not installed',
    "Install it: apt-get install bubblewrap, or your system's package of that name.",
  );
}

function personOf(env: NodeJS.ProcessEnv): string {
  const named = env['HOME'] ?? '';
  return isAbsolute(named) ? realPath(named) : homedir();
}

function unavailable(why: string, hint: string): PlugboardError {
  return new PlugboardError('START_FAILED', `The sandbox that its entry asks for is not available: ${why}`, {
    hint,
    detail: { permanent: true },
  });
}

/** The test takes milliseconds; a system where it hangs is not reliable. */
const PROBE_MS = 10_000;

type Attempt =
  | { readonly held: true }
  /** The method of the escape. */
  | { readonly escaped: string }
  /** The sandbox could not be created. */
  | { readonly failed: string };

/** Prints each violation that succeeds; no output means that the sandbox holds. A violation changes nothing. */
const SCRIPT = `
while read -r name value rest; do
  case $name in
    CapInh:|CapPrm:|CapEff:|CapBnd:|CapAmb:) case $value in *[!0]*) echo "it keeps capabilities"; break;; esac;;
    NoNewPrivs:) [ "$value" = 1 ] || echo "it can gain rights";;
  esac
done < /proc/self/status
[ -w /proc/sys/kernel/core_pattern ] && echo "it can change settings of the kernel"
[ -w /proc/sysrq-trigger ] && echo "it can command the kernel"
mount -o remount,rw,bind / 2>/dev/null && echo "it can mount / again"
umount /run 2>/dev/null && echo "it can uncover hidden folders"
case $1 in confined) ( : > /.plugboard-probe ) 2>/dev/null && echo "it can write outside";; esac
exit 0
`;

/**
 * Tests the sandbox before a server runs in it: tries to break out, with exactly the limits of the server.
 *
 * @param limits arguments of bubblewrap
 */
async function tryToBreakOut(helper: string, limits: readonly string[]): Promise<Attempt> {
  const mode = limits.join(' ').includes('--remount-ro / ') ? 'confined' : 'open';
  const args = [...limits, '--', '/bin/sh', '-c', SCRIPT, 'probe', mode];
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
  try {
    const { stdout } = await promisify(execFile)(helper, args, { timeout: PROBE_MS, env });
    const [first] = stdout.split('\n').filter(Boolean);
    return first === undefined ? { held: true } : { escaped: first };
  } catch (cause) {
    const stderr = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : '';
    return { failed: stderr.trim().split('\n')[0] ?? '' };
  }
}

interface Launcher {
  readonly network: boolean;
  readonly person: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Without network the launchers fail at once instead of after a minute. */
const OFFLINE = { npm_config_offline: 'true', UV_OFFLINE: '1' };

/**
 * Returns the same program, or the installed package instead of npx; `env`: variables to add. npm writes to its cache
 * even to read it, and cached code later runs outside of the sandbox, so the cache is not shared: a package that npx has
 * not installed yet is downloaded for this process only, if it has network.
 */
function confinedLauncher({ command, args }: Program, launcher: Launcher): Required<Program> {
  const env = launcher.network ? {} : OFFLINE;
  const wanted = basename(command) === 'npx' ? readArguments(args) : undefined;
  const script = wanted === undefined ? undefined : preparedScript(wanted.spec, launcher);
  if (wanted === undefined || script === undefined) return { command, args, env };
  return { command: script, args: wanted.rest, env };
}

/** Returns the package and its own arguments; undefined for options that change more than npx's prompt. */
function readArguments(args: readonly string[]): { spec: string; rest: readonly string[] } | undefined {
  let at = 0;
  for (; args[at]?.startsWith('-') === true; at += 1) {
    const option = args[at];
    if (option === '--prefix') at += 1;
    else if (option === '--') continue;
    else if (!/^(?:-y|--yes|-q|--quiet|--offline|--prefer-offline|--prefix=.*)$/.test(option ?? ''))
      return undefined;
  }
  const spec = args[at];
  return spec === undefined ? undefined : { spec, rest: args.slice(at + 1) };
}

function preparedScript(spec: string, { person, env }: Launcher): string | undefined {
  const cache = env['npm_config_cache'] ?? env['NPM_CONFIG_CACHE'] ?? join(person, '.npm');
  const trees = join(cache, '_npx');
  if (!isAbsolute(trees) || !existsSync(trees)) return undefined;
  for (const tree of readdirSync(trees)) {
    const prepared = readJson(join(trees, tree, 'package.json'));
    const { packages } = isRecord(prepared?.['_npx']) ? prepared['_npx'] : {};
    if (!Array.isArray(packages) || packages.length !== 1 || packages[0] !== spec) continue;
    const [name] = isRecord(prepared?.['dependencies']) ? Object.keys(prepared['dependencies']) : [];
    const folder = join(trees, tree, 'node_modules', name ?? '');
    const script = name === undefined ? undefined : binOf(name, readJson(join(folder, 'package.json')));
    if (script !== undefined && existsSync(join(folder, script))) return join(folder, script);
  }
  return undefined;
}

/** Selects the program like npx: the only one, or the one named like the package. */
function binOf(name: string, manifest: JsonObject | undefined): string | undefined {
  const bin = manifest?.['bin'];
  if (typeof bin === 'string') return bin;
  if (!isRecord(bin)) return undefined;
  const programs = [...new Set(Object.values(bin))];
  const [only] = programs;
  const chosen = programs.length === 1 ? only : bin[name.replace(/^@[^/]+\//, '')];
  return typeof chosen === 'string' ? chosen : undefined;
}

function readJson(file: string): JsonObject | undefined {
  return parseRecord(attempt(() => readFileSync(file, 'utf8'), ''));
}
