/** Determines the program, arguments, folder and environment of a server's process. */

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import type { ServerSpec, StdioEntry } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { isForeign } from '../config/scopes.ts';
import { isInside, realPath } from '../lib/inside.ts';
import { serverEnvironment } from './server-environment.ts';
import { chosenFolder, privateFolder } from './start-folder.ts';

export interface LaunchPlan {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

type Launched = Omit<LaunchPlan, 'cwd'>;

export interface LaunchPlanOptions {
  readonly spec: ServerSpec;
  /** With its variables expanded. */
  readonly entry: StdioEntry;
  /** The session's environment; the process gets a part of it. */
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
}

export async function planLaunch({ spec, entry, env, home }: LaunchPlanOptions): Promise<LaunchPlan> {
  const { command, args = [] } = entry;
  const own = serverEnvironment(spec, entry, env);
  const chosen = chosenFolder(spec, entry);
  const { baseDir, projectDir = baseDir } = spec;
  if (isForeign(spec) && spec.shielded !== true) return { command, args, cwd: chosen ?? baseDir, env: own };
  const empty = await privateFolder(home, spec, env);
  const cwd = chosen ?? empty;
  // Launchers read project settings from every folder above their working folder.
  const isExposed =
    isInside(realPath(cwd), realPath(projectDir)) || isInside(realPath(cwd), realPath(baseDir));
  return isExposed
    ? { cwd, ...shielded({ command, args, env: own }, empty) }
    : { command, args, cwd, env: own };
}

/** True for a command that starts `npx`; false on Windows, where programs of packages are started in another way. */
export function isNpx(command: string): boolean {
  return process.platform !== 'win32' && basename(command) === 'npx';
}

/**
 * Shields a package launcher that starts inside a project from the project's settings: registry, shell, Node options,
 * and files to load. The user chose the folder, not the settings in it. Values set by the entry or the user's
 * environment are kept.
 *
 * @param empty a folder without settings
 */
function shielded({ command, args, env }: Launched, empty: string): Launched {
  const name = basename(command).replace(/\.(?:cmd|exe|bat)$/i, '');
  const settings = SETTINGS[name]?.(env) ?? {};
  return { command, args: withPrefix(name, args, empty), env: { ...settings, ...env } };
}

/** With a prefix, npx uses neither settings nor packages of its working folder. */
function withPrefix(name: string, args: readonly string[], empty: string): readonly string[] {
  if (name === 'npx' && !hasPrefix(args)) return ['--prefix', empty, ...args];
  const [first = '', ...rest] = args;
  const isExec = name === 'npm' && (first === 'exec' || first === 'x') && !hasPrefix(rest);
  return isExec ? [first, '--prefix', empty, ...rest] : args;
}

/** Options of npx that take a value. */
const WITH_VALUE: ReadonlySet<string> = new Set(['-p', '--package', '-c', '--call', '-w', '--workspace']);

/** Searches the launcher's own options, which precede the package name. */
function hasPrefix(args: readonly string[]): boolean {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === '--prefix' || word.startsWith('--prefix=') || word === '-C') return true;
    if (!word.startsWith('-') || word === '--') return false;
    if (WITH_VALUE.has(word)) at += 1;
  }
  return false;
}

type Settings = (env: Launched['env']) => Readonly<Record<string, string>>;

/** npm ignores empty values; a blank sets no option. */
const NPM: Settings = () => ({
  ...(process.platform === 'win32' ? {} : { npm_config_script_shell: '/bin/sh' }),
  npm_config_node_options: ' ',
});

/** Disables the project's choice of a package manager and its hooks. */
const PNPM: Settings = (env) => ({
  ...NPM(env),
  npm_config_ignore_pnpmfile: 'true',
  npm_config_manage_package_manager_versions: 'false',
  COREPACK_ENABLE_PROJECT_SPEC: '0',
});

/** Yarn's settings file can name programs and plugins; with another file name it is not read. */
const YARN: Settings = () => ({
  YARN_IGNORE_PATH: '1',
  YARN_RC_FILENAME: '.yarnrc.plugboard.yml',
  COREPACK_ENABLE_PROJECT_SPEC: '0',
});

const UV: Settings = ({ XDG_CONFIG_HOME, HOME = homedir() }) => {
  const own = join(XDG_CONFIG_HOME || join(HOME, '.config'), 'uv', 'uv.toml');
  return existsSync(own) ? { UV_CONFIG_FILE: own } : { UV_NO_CONFIG: '1' };
};

const SETTINGS: Readonly<Record<string, Settings>> = {
  npm: NPM,
  pnpm: PNPM,
  pnpx: PNPM,
  yarn: YARN,
  yarnpkg: YARN,
  uv: UV,
  uvx: UV,
};
