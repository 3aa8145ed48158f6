/** `git_commit`: a new commit of what is staged, or of the paths that are named. */

import { PlugboardError } from '../errors.ts';
import { type Tool, tool } from '../kit/definitions.ts';
import { clean } from '../policy/clean.ts';
import { Git } from './git.ts';
import { badPath } from './refusals.ts';
import { answer, type Workspace } from './workspace.ts';

const MAX_OUTPUT_BYTES = 20_000;
const MAX_COMPLAINT_CHARS = 4_000;

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
      if (message.includes('\0')) throw badPath('A commit message cannot hold a NUL byte.');
      const git = await Git.open(workspace, { signal });
      const options = { signal, maxBytes: MAX_OUTPUT_BYTES, writes: true };
      // What is staged may lie outside the project, when its repository is larger.
      const wanted = git.pathspec(paths);
      if (paths !== undefined) await git.answer(['add', '--all', '--', ...wanted], options);
      const ended = await git.run(['commit', '--file=-', '--cleanup=whitespace', '--', ...wanted], {
        ...options,
        input: message,
      });
      const said = clean(`${ended.stdout.toString('utf8')}\n${ended.stderr.toString('utf8')}`, {
        max: MAX_COMPLAINT_CHARS,
      }).trim();
      if (ended.code !== 0) throw new PlugboardError('INVALID_ARGUMENTS', `git made no commit: ${said}`);
      const hash = await git.commitOf('HEAD', options);
      const list = ['diff-tree', '--root', '--no-commit-id', '--name-only', '-r', '-z', '--relative', hash];
      const files = (await git.answer(list, { ...options, writes: false })).split('\0').filter(Boolean);
      return answer(said, { hash, files });
    },
  });
}
