/**
 * Shields package launchers that start inside a project from the project's settings: registry, shell, Node options, and
 * files to load. The user chose the folder, not the settings in it.
 */

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';

export interface Launched {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** `empty`: a folder without settings. Values set by the entry or the user's environment are kept. */
export function shielded({ command, args, env }: Launched, empty: string): Launched {
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
