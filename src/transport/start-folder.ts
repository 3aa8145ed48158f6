/** Where a server's process starts: in its project only if the project or the person says so (A24). */

import { homedir } from 'node:os';
import { join } from 'node:path';
import { isForeign, type ServerSpec, type StdioEntry } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { isCommonFolder } from '../lib/find-program.ts';
import { isInside, realPath } from '../lib/inside.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { quickHash } from '../lib/quick-hash.ts';

/** What can be a file's name on every system, and short enough to be recognised. */
const PLAIN_NAME = /^(?!\.)[A-Za-z0-9._-]{1,64}$/;
const MAX_NAME_CHARS = 48;

type Origin = Pick<ServerSpec, 'name' | 'scope' | 'baseDir' | 'projectDir'>;

/**
 * The folder that a server's entry asks for; undefined where it starts in a private folder of its own.
 *
 * Programs read code and settings from the folder that they start in (`npx`, `node`, `python -m`, `make`), so a
 * person's own servers never start in the project that the person happens to be in.
 */
export function chosenFolder(
  spec: Pick<ServerSpec, 'scope' | 'baseDir' | 'shielded'>,
  { cwd }: Pick<StdioEntry, 'cwd'>,
): string | undefined {
  if (cwd !== undefined) return cwd;
  // Where only listed commands may run, the project must not decide what they are.
  return isForeign(spec) && spec.shielded !== true ? spec.baseDir : undefined;
}

/** The private folder of a server: made when it is first needed, and kept. */
export async function privateFolder(home: Home, spec: Origin, env: NodeJS.ProcessEnv): Promise<string> {
  const folder = privatePath(home, spec, env);
  await makeFolder(folder, 0o700);
  return folder;
}

/** Where the private folder of a server is, or would be. */
export function privatePath(home: Home, spec: Origin, env: NodeJS.ProcessEnv): string {
  return join(placeOfFolders(home, spec, env), privateName(spec));
}

/** In our home, unless that is inside the project: programs look for settings in every folder above. */
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

/** Servers of one name and different owners have different folders. */
export function privateName({ name, scope, baseDir }: Origin): string {
  if (scope === 'user' && PLAIN_NAME.test(name)) return name;
  const isForAllProjects = scope === 'user' || scope === 'code' || scope === 'managed';
  const owner = isForAllProjects ? scope : `${scope} ${baseDir}`;
  const readable = name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_NAME_CHARS);
  return `${readable}~${quickHash(`${owner} ${name}`)}`;
}
