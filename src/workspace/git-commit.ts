/** The `git_commit` tool: commits the staged changes, or the given paths. */

import { PlugboardError } from '../errors.ts';
import { type Tool, tool } from '../kit/definitions.ts';
import { clean } from '../policy/clean.ts';
import { Git, type GitRun } from './git.ts';
import { answer, type Workspace } from './workspace-context.ts';
import { badPath } from './workspace-errors.ts';

const MAX_OUTPUT_BYTES = 20_000;
const MAX_COMPLAINT_CHARS = 4_000;

/** For all paths that one commit changes. */
const MAX_PATHS_BYTES = 64 * 1024 * 1024;

export function gitCommitTool(workspace: Workspace): Tool {
  return tool({
    name: 'git_commit',
    description:
      'Makes a commit: of what is staged, or of the files and folders in paths as they are now (new and deleted ' +
      "ones too). The project's hooks run only where the shell is enabled.",
    input: {
      type: 'object',
      properties: {
        message: { type: 'string', minLength: 1, description: 'The commit message.' },
        paths: {
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          description: 'Commit these, whatever else is staged. Without it, what is staged.',
        },
      },
      required: ['message'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: { hash: { type: 'string' }, files: { type: 'array', items: { type: 'string' } } },
      required: ['hash', 'files'],
    },
    annotations: {
      title: 'Git commit',
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: false,
    },

    async run({ message, paths }, { signal }) {
      if (message.includes('\0')) throw badPath('A commit message cannot hold a NUL byte');
      const git = await Git.open(workspace, { signal });
      const options = { signal, maxBytes: MAX_OUTPUT_BYTES, writes: true };
      // Staged files may be outside the project, if its repository is larger.
      const wanted = git.pathspec(paths);
      if (wanted.length > 0) await stage(git, wanted, { signal, withNew: paths !== undefined });
      // On an empty commit git prints a status, which runs programs of nested repositories.
      if (!(await hasChanges(git, wanted, options))) throw noCommit('nothing to commit');
      const ended = await git.run(['commit', '--file=-', '--cleanup=whitespace', '--', ...wanted], {
        ...options,
        input: message,
      });
      const text = clean(`${ended.stdout.toString('utf8')}\n${ended.stderr.toString('utf8')}`, {
        max: MAX_COMPLAINT_CHARS,
      }).trim();
      if (ended.code !== 0) throw noCommit(text);
      const hash = await git.commitOf('HEAD', options);
      const list = ['diff-tree', '--root', '--no-commit-id', '--name-only', '-r', '-z', '--relative', hash];
      const files = (await git.answer(list, { ...options, writes: false })).split('\0').filter(Boolean);
      return answer(text, { hash, files });
    },
  });
}

/**
 * Adds the current files to the index. `git add` would run a status in every nested repository, with that repository's
 * settings; here a submodule is staged as its current commit, and an unknown repository not at all.
 */
async function stage(
  git: Git,
  wanted: readonly string[],
  { signal, withNew }: { readonly signal: AbortSignal; readonly withNew: boolean },
): Promise<void> {
  const options = { signal, maxBytes: MAX_PATHS_BYTES };
  const kinds = ['--modified', '--deleted', ...(withNew ? ['--others', '--exclude-standard'] : [])];
  const { code, stdout, stderr, dropped } = await git.run(
    ['ls-files', '-z', ...kinds, '--', ...wanted],
    options,
  );
  if (code !== 0) throw noCommit(stderr.toString('utf8').trim());
  if (dropped.stdout > 0) throw noCommit('too many files changed');
  const files = new Set(stdout.toString('utf8').split('\0'));
  const listed = [...files].filter((path) => path !== '' && !path.endsWith('/'));
  const input = listed.map((path) => `${path}\0`).join('');
  await git.answer(['update-index', '--add', '--remove', '-z', '--stdin'], {
    ...options,
    input,
    writes: true,
  });
}

/** True also for a merge without changes: it still needs a commit. */
async function hasChanges(git: Git, wanted: readonly string[], options: GitRun): Promise<boolean> {
  const exists = async (name: string): Promise<boolean> =>
    (await git.run(['rev-parse', '--verify', '--quiet', name], options)).code === 0;
  if (await exists('MERGE_HEAD')) return true;
  if (!(await exists('HEAD'))) return (await git.answer(['ls-files', '--', ...wanted], options)) !== '';
  const compare = ['diff-index', '--cached', '--quiet', '--ignore-submodules=dirty', 'HEAD', '--', ...wanted];
  return (await git.run(compare, options)).code !== 0;
}

function noCommit(why: string): PlugboardError {
  return new PlugboardError('INVALID_ARGUMENTS', `git made no commit: ${why}`);
}
