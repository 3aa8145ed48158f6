/** Determines the working folder of a server's process: the project only if the project or the user requests it (A24). */

import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isStdio, type ServerSpec, type StdioEntry } from '../config/entry.ts';
import { environmentOf, expandText } from '../config/expand.ts';
import type { Home } from '../config/home.ts';
import { isForeign, isPerFolder } from '../config/scopes.ts';
import { attempt } from '../lib/attempt.ts';
import { isCommonFolder } from '../lib/find-program.ts';
import { isInside, realPath } from '../lib/inside.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { quickHash } from '../lib/quick-hash.ts';

/** A valid file name on every system, short enough to be recognised. */
const PLAIN_NAME = /^(?!\.)[A-Za-z0-9._-]{1,64}$/;
const MAX_NAME_CHARS = 48;

type Origin = Pick<ServerSpec, 'name' | 'scope' | 'baseDir' | 'projectDir'>;

/**
 * Returns the folder that a server's entry specifies; undefined if the server starts in its private folder.
 *
 * Programs read code and settings from their working folder (`npx`, `node`, `python -m`, `make`), so a user's own
 * servers never start in the current project.
 */
export function chosenFolder(
  spec: Pick<ServerSpec, 'scope' | 'baseDir' | 'shielded'>,
  { cwd }: Pick<StdioEntry, 'cwd'>,
): string | undefined {
  if (cwd !== undefined) return cwd;
  // If only listed commands may run, the project must not influence what they run.
  return isForeign(spec) && spec.shielded !== true ? spec.baseDir : undefined;
}

/** The home folder and the environment that processes are started with. */
export interface StartContext {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Returns the working folder that a server's process starts in, for rules about relative paths; `unknown` if it depends
 * on a value that is not known here, undefined for a server that is not a process.
 */
export function workingFolder(spec: ServerSpec, { home, env }: StartContext): string | 'unknown' | undefined {
  const { entry, name: server, baseDir } = spec;
  if (!isStdio(entry)) return undefined;
  const chosen = chosenFolder(spec, entry);
  if (chosen === undefined) return privatePath(home, spec, env);
  if (entry.cwd === undefined || !chosen.includes('${')) return resolve(baseDir, chosen);
  const text = attempt(() => expandText(chosen, environmentOf(spec, env), { server, key: 'cwd' }), undefined);
  return text === undefined ? 'unknown' : resolve(baseDir, text);
}

/** Returns the private folder of a server; creates it on first use and keeps it. */
export async function privateFolder(home: Home, spec: Origin, env: NodeJS.ProcessEnv): Promise<string> {
  const folder = privatePath(home, spec, env);
  await makeFolder(folder, 0o700);
  return folder;
}

/** Returns the path of a server's private folder, existing or not. */
export function privatePath(home: Home, spec: Origin, env: NodeJS.ProcessEnv): string {
  return join(placeOfFolders(home, spec, env), privateName(spec));
}

/** Uses our home folder, unless it is inside the project: programs look for settings in every parent folder. */
function placeOfFolders(
  home: Home,
  { baseDir, projectDir = baseDir }: Origin,
  env: NodeJS.ProcessEnv,
): string {
  const isInProject = isInside(realPath(home.dir), realPath(projectDir)) && !isCommonFolder(projectDir);
  if (!isInProject) return home.folders;
  const cache = env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache');
  return join(cache, 'plugboard', 'folders', quickHash(realPath(home.dir)));
}

/** Returns the folder's name; servers with the same name and different owners have different folders. */
export function privateName({ name, scope, baseDir }: Origin): string {
  if (scope === 'user' && PLAIN_NAME.test(name)) return name;
  const owner = isPerFolder({ scope }) ? `${scope} ${baseDir}` : scope;
  const readable = name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_NAME_CHARS);
  return `${readable}~${quickHash(`${owner} ${name}`)}`;
}
