/**
 * Keeps a project's settings from launchers of packages that start inside of it: which registry they ask, which shell
 * and which options of Node they use, which files they load. The person chose the folder, not what is written there.
 */

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';

export interface Launched {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** `empty`: a folder without settings. What the entry or the person's environment sets is left as it is. */
export function shielded({ command, args, env }: Launched, empty: string): Launched {
  const name = basename(command).replace(/\.(?:cmd|exe|bat)$/i, '');
  const settings = SETTINGS[name]?.(env) ?? {};
  return { command, args: withPrefix(name, args, empty), env: { ...settings, ...env } };
}

/** With a prefix, npx takes neither settings nor packages from the folder that it starts in. */
function withPrefix(name: string, args: readonly string[], empty: string): readonly string[] {
  if (name === 'npx' && !hasPrefix(args)) return ['--prefix', empty, ...args];
  const [first = '', ...rest] = args;
  const isExec = name === 'npm' && (first === 'exec' || first === 'x') && !hasPrefix(rest);
  return isExec ? [first, '--prefix', empty, ...rest] : args;
}

/** Options of npx that take a value. */
const WITH_VALUE: ReadonlySet<string> = new Set(['-p', '--package', '-c', '--call', '-w', '--workspace']);

/** Among its own options, which end with the package. */
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

/** npm skips empty values, and a blank one sets no option. */
const NPM: Settings = () => ({
  ...(process.platform === 'win32' ? {} : { npm_config_script_shell: '/bin/sh' }),
  npm_config_node_options: ' ',
});

/** Neither the project's choice of a package manager nor its hooks. */
const PNPM: Settings = (env) => ({
  ...NPM(env),
  npm_config_ignore_pnpmfile: 'true',
  npm_config_manage_package_manager_versions: 'false',
  COREPACK_ENABLE_PROJECT_SPEC: '0',
});

/** Its file of settings can name programs and plugins; another name leaves it unread. */
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
