/** The project of the `npm start` demonstration: the given folder, else a copy of the bundled sample. */

import { execFile } from 'node:child_process';
import { cp, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PlugboardError } from '../errors.ts';

const SAMPLE: string = fileURLToPath(new URL('../../assets/sample/', import.meta.url));
const AUTHOR = [
  '-c',
  'user.name=Plugboard',
  '-c',
  'user.email=sample@localhost',
  '-c',
  'commit.gpgsign=false',
];

/** Resolves to an absolute path. `from`: the base of a relative `given`. */
export async function givenProject(given: string, from: string): Promise<string> {
  const folder = resolve(from, given);
  const isFolder = await stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (isFolder) return folder;
  throw new PlugboardError('USAGE', `${folder} is not a folder.`, {
    hint: 'npm start -- <folder> serves an existing folder; without one, a sample project is served.',
  });
}

/** Copies the sample into a folder under `parent`, as a git repository if git is installed. */
export async function copySample(parent: string): Promise<string> {
  const folder = join(parent, 'sample');
  await cp(SAMPLE, folder, { recursive: true });
  const git = (...args: string[]): Promise<unknown> => promisify(execFile)('git', args, { cwd: folder });
  try {
    await git('init', '--quiet');
    await git('add', '--all');
    await git(...AUTHOR, 'commit', '--quiet', '--message', 'A sample shop');
  } catch {
    // Without git the files are enough: only the git tools have nothing to show.
  }
  return folder;
}
