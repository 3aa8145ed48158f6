/** Lists the files of a folder that git does not ignore. */

import type { Git } from './git.ts';

const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Returns paths relative to the folder; undefined if git cannot list them, and the folder must be walked. */
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
  // No files: the folder itself is ignored, and was requested explicitly.
  return files.length === 0 ? undefined : files;
}
