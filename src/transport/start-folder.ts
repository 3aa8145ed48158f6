/** Where a server's process starts: in its project only if the project or the person says so (A24). */

import { join } from 'node:path';
import type { ServerSpec, StdioEntry } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { quickHash } from '../lib/quick-hash.ts';

/** What can be a file's name on every system, and short enough to be recognised. */
const PLAIN_NAME = /^(?!\.)[A-Za-z0-9._-]{1,64}$/;
const MAX_NAME_CHARS = 48;

type Origin = Pick<ServerSpec, 'name' | 'scope' | 'baseDir'>;

/**
 * The folder that a server's entry asks for; undefined where it starts in a private folder of its own.
 *
 * Programs read code and settings from the folder that they start in (`npx`, `node`, `python -m`, `make`), so a
 * person's own servers never start in the project that the person happens to be in.
 */
export function chosenFolder(
  { scope, baseDir }: Pick<ServerSpec, 'scope' | 'baseDir'>,
  { cwd }: Pick<StdioEntry, 'cwd'>,
): string | undefined {
  if (cwd !== undefined) return cwd;
  return scope === 'project' || scope === 'plugin' ? baseDir : undefined;
}

/** The private folder of a server: made when it is first needed, and kept. */
export async function privateFolder(home: Home, spec: Origin): Promise<string> {
  const folder = join(home.folders, privateName(spec));
  await makeFolder(folder, 0o700);
  return folder;
}

/** Servers of one name and different owners have different folders. */
export function privateName({ name, scope, baseDir }: Origin): string {
  if (scope === 'user' && PLAIN_NAME.test(name)) return name;
  const isForAllProjects = scope === 'user' || scope === 'code' || scope === 'managed';
  const owner = isForAllProjects ? scope : `${scope} ${baseDir}`;
  const readable = name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_NAME_CHARS);
  return `${readable}~${quickHash(`${owner} ${name}`)}`;
}
