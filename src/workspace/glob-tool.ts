/** The `glob` tool: finds files of the project by a path pattern. */

import { type Tool, tool } from '../kit/definitions.ts';
import { Git } from './git.ts';
import { searchInThread } from './search-thread.ts';
import { answer, type Call, readOnly, type Workspace } from './workspace-context.ts';

const MAX_FILES = 1_000;
const MAX_PATTERN_CHARS = 1_000;

export function globTool(workspace: Workspace): Tool {
  return tool({
    name: 'glob',
    description:
      'Finds files of the project by a pattern: src/**/*.ts, **/*.{md,txt}; without a slash it is for names in any ' +
      `folder. Files that git ignores are left out. At most ${MAX_FILES}, in order of their paths.`,
    input: {
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1, maxLength: MAX_PATTERN_CHARS, description: 'The pattern.' },
        path: {
          type: 'string',
          description: 'The folder to look in, relative to the project root (the root).',
        },
        include_ignored: { type: 'boolean', description: 'Also files that git ignores (false).' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        files: { type: 'array', items: { type: 'string' }, description: 'Relative to the project root.' },
        truncated: { type: 'boolean', description: 'Whether there are more.' },
      },
      required: ['files', 'truncated'],
    },
    annotations: readOnly('Find files'),

    async run(input, call) {
      const { root } = workspace;
      const { pattern, path = '.', include_ignored: includeIgnored = false } = input;
      const place = root.locate(path);
      root.enter(place).close();
      const { files, truncated, timedOut } = await searchInThread(
        workspace,
        {
          kind: 'glob',
          root: root.path,
          folder: place.real,
          files: includeIgnored ? undefined : await ownFiles(workspace, place.real, call),
          includeIgnored,
          glob: pattern.replace(/^\.\//, ''),
          max: MAX_FILES,
        },
        call,
      );
      const prefix = place.shown === '.' ? '' : `${place.shown}/`;
      const found = files.map((file) => `${prefix}${file}`).sort();
      const note = timedOut
        ? '[The search took too long and was ended.]'
        : `[There are more than ${MAX_FILES}.]`;
      const lines = found.length === 0 ? [`No file matches ${pattern}.`] : found;
      return answer([...lines, ...(truncated ? [note] : [])].join('\n'), { files: found, truncated });
    },
  });
}

/** Returns the files that are not ignored; undefined if git cannot list them. */
export async function ownFiles(
  workspace: Workspace,
  folder: string,
  { signal }: Call,
): Promise<readonly string[] | undefined> {
  const git = await Git.open(workspace, { signal }).catch(() => undefined);
  signal.throwIfAborted();
  return filesByGit(git, folder, signal);
}

const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Returns paths relative to the folder; undefined if git cannot list them, and the folder must be walked. */
async function filesByGit(
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
