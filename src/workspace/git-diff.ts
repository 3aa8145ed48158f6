/** The `git_diff` tool: changes in the working tree, in the index, or between commits. */

import { type Tool, tool } from '../kit/definitions.ts';
import { Git } from './git.ts';
import { readOnly, type Workspace } from './workspace-context.ts';
import { badPath } from './workspace-errors.ts';

const MAX_DIFF_BYTES = 100_000;
const DEFAULT_CONTEXT = 3;
const MAX_CONTEXT = 100;

export function gitDiffTool(workspace: Workspace): Tool {
  return tool({
    name: 'git_diff',
    description:
      'Shows changes as a unified diff: of the working tree against what is staged (default), of what is staged ' +
      'against the last commit, of the working tree against a commit, or between two commits.',
    input: {
      type: 'object',
      properties: {
        staged: {
          type: 'boolean',
          description: 'What is staged, against the last commit or against from (false).',
        },
        from: { type: 'string', description: 'A commit, branch or tag to compare with.' },
        to: {
          type: 'string',
          description: 'The commit to compare; needs from. Without it, the working tree.',
        },
        paths: { type: 'array', items: { type: 'string' }, description: 'Only these files or folders.' },
        context: {
          type: 'integer',
          minimum: 0,
          maximum: MAX_CONTEXT,
          description: `Lines around each change (${DEFAULT_CONTEXT}).`,
        },
        stat: { type: 'boolean', description: 'Only how much changed in which file (false).' },
      },
      additionalProperties: false,
    },
    annotations: readOnly('Git diff'),

    async run(input, { signal }) {
      const { staged = false, from, to, paths, context = DEFAULT_CONTEXT, stat = false } = input;
      if (to !== undefined && (from === undefined || staged)) {
        throw badPath(
          '"to" needs "from" and cannot be combined with "staged"',
          'Give the older commit as from.',
        );
      }
      const git = await Git.open(workspace, { signal });
      const options = { signal, maxBytes: MAX_DIFF_BYTES };
      const commits = await Promise.all(
        [from, to].flatMap((name) => (name === undefined ? [] : [git.commitOf(name, options)])),
      );
      const { code, stdout, stderr, dropped } = await git.run(
        [
          'diff',
          '--no-ext-diff',
          '--no-textconv',
          '--submodule=short',
          '--ignore-submodules=dirty',
          '--relative',
          `--unified=${context}`,
          ...(staged ? ['--cached'] : []),
          ...(stat ? ['--stat'] : []),
          ...commits,
          '--',
          ...git.pathspec(paths),
        ],
        options,
      );
      if (code !== 0) throw badPath(`git: ${stderr.toString('utf8').trim()}`);
      const text = stdout.toString('utf8');
      const note = `\n[${dropped.stdout} more bytes are left out; ask with stat, or for fewer paths.]`;
      return `${text === '' ? 'Nothing differs.' : text}${dropped.stdout > 0 ? note : ''}`;
    },
  });
}
