/** Finds Plugboard's home folder and the project root. */

import { existsSync } from 'node:fs';
import { devNull, homedir, tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';

/** Paths in the home folder. Only the environment and code can move it, never a file in a project. */
export interface Home {
  readonly dir: string;
  readonly config: string;
  readonly credentials: string;
  readonly trust: string;
  readonly pins: string;
  readonly cache: string;
  readonly outputs: string;
  readonly audit: string;
  readonly run: string;
  /** Packages of locked servers. */
  readonly store: string;
  /** One log for each server. */
  readonly logs: string;
  /** Working folders of servers that do not run in a project, one for each. */
  readonly folders: string;
  /** Nothing is stored: there is no home folder, and `folders` are temporary, removed with their host. */
  readonly isNone: boolean;
}

export function homeAt(dir: string): Home {
  return {
    dir,
    config: join(dir, 'config.json'),
    credentials: join(dir, 'credentials.json'),
    trust: join(dir, 'trust.json'),
    pins: join(dir, 'pins.json'),
    cache: join(dir, 'cache'),
    outputs: join(dir, 'outputs'),
    audit: join(dir, 'audit.jsonl'),
    run: join(dir, 'run'),
    store: join(dir, 'store'),
    logs: join(dir, 'logs'),
    folders: join(dir, 'folders'),
    isNone: false,
  };
}

/** For a host that stores nothing: paths that cannot contain files, so that reads find nothing and writes fail. */
export function noHome(): Home {
  // The global `crypto`: importing Node's module would add a millisecond to every command.
  const nowhere = homeAt(join(devNull, 'plugboard'));
  return { ...nowhere, folders: join(tmpdir(), `plugboard-${crypto.randomUUID()}`, 'folders'), isNone: true };
}

export function findHome(env: NodeJS.ProcessEnv): Home {
  if (env['PLUGBOARD_HOME']) return homeAt(resolve(env['PLUGBOARD_HOME']));
  // A relative path is invalid by the XDG specification; here it would put the home folder into the current project.
  const xdg = env['XDG_CONFIG_HOME'] ?? '';
  const base = isAbsolute(xdg) ? xdg : join(env['HOME'] || homedir(), '.config');
  return homeAt(resolve(base, 'plugboard'));
}

/** True for a private working folder of a server, of any home folder. */
export function isPrivateFolder(cwd: string): boolean {
  const folders = dirname(resolve(cwd));
  const isOurs = existsSync(join(folders, '..', 'config.json')) || folders.includes('plugboard');
  return basename(folders) === 'folders' && isOurs;
}

/** Returns the nearest parent folder with a `.git`, else the folder itself. */
export function findProjectRoot(cwd: string): string {
  const start = resolve(cwd);
  for (let dir = start; ; dir = dirname(dir)) {
    if (existsSync(join(dir, '.git'))) return dir;
    if (dirname(dir) === dir) return start;
  }
}

/** Returns the project of a configuration file: `.mcp.json`, or one such as `.vscode/mcp.json`. */
export function projectOf(file: string): string {
  const folder = dirname(resolve(file));
  const root = findProjectRoot(folder);
  if (existsSync(join(root, '.git'))) return root;
  return basename(folder).startsWith('.') ? dirname(folder) : folder;
}
