/** The files of a folder that are the project's own, by git's word: what .gitignore names is left out. */

import type { Git } from './git.ts';

const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Relative to the folder; undefined when git cannot say, and the folder has to be walked through. */
export async function filesByGit(
  git: Git | undefined,
  folder: string,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  if (git === undefined) return undefined;
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', '.'];
  const { code, stdout, dropped } = await git.run(args, { cwd: folder, signal, maxBytes: MAX_LIST_BYTES });
  if (code !== 0 || dropped.stdout > 0) return undefined;
  const files = stdout.toString('utf8').split('\0').filter(Boolean);
  // None at all: the folder itself is ignored, and somebody wants to look into it.
  return files.length === 0 ? undefined : files;
}
