/** The `git_log` tool: the latest commits, of the whole project or of one path. */

import { type Tool, tool } from '../kit/definitions.ts';
import { Git } from './git.ts';
import { answer, readOnly, type Workspace } from './workspace-context.ts';

const DEFAULT_COMMITS = 20;
const MAX_COMMITS = 200;
const MAX_LOG_BYTES = 1024 * 1024;
const MAX_BODY_CHARS = 2_000;
const SHORT_HASH_CHARS = 10;
/** Field separator; fields cannot contain it, because git removes control characters from names and subjects. */
const FIELD = '\x1f';

interface Commit {
  readonly hash: string;
  readonly author: string;
  readonly email: string;
  readonly date: string;
  readonly subject: string;
  readonly body: string;
}

export function gitLogTool(workspace: Workspace): Tool {
  return tool({
    name: 'git_log',
    description: 'Shows the latest commits with author, date and message, newest first.',
    input: {
      type: 'object',
      properties: {
        max: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_COMMITS,
          description: `How many (${DEFAULT_COMMITS}).`,
        },
        skip: { type: 'integer', minimum: 0, description: 'How many to pass over first (0).' },
        revision: { type: 'string', description: 'Where to begin: a commit, branch or tag (HEAD).' },
        path: { type: 'string', description: 'Only commits that changed this file or folder.' },
      },
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        commits: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              hash: { type: 'string' },
              author: { type: 'string' },
              email: { type: 'string' },
              date: { type: 'string', description: 'ISO 8601.' },
              subject: { type: 'string' },
              body: { type: 'string' },
            },
            required: ['hash', 'author', 'email', 'date', 'subject', 'body'],
          },
        },
      },
      required: ['commits'],
    },
    annotations: readOnly('Git log'),

    async run(input, { signal }) {
      const { max = DEFAULT_COMMITS, skip = 0, revision = 'HEAD', path } = input;
      const git = await Git.open(workspace, { signal });
      const options = { signal, maxBytes: MAX_LOG_BYTES };
      const commit = await git.commitOf(revision, options);
      const format = ['%H', '%an', '%ae', '%aI', '%s', '%b'].join('%x1f');
      const text = await git.answer(
        [
          'log',
          '-z',
          '--no-show-signature',
          '--no-textconv',
          '--no-ext-diff',
          `--max-count=${max}`,
          `--skip=${skip}`,
          `--format=${format}`,
          commit,
          '--',
          ...git.pathspec(path === undefined ? undefined : [path]),
        ],
        options,
      );
      const commits = text.split('\0').filter(Boolean).map(parseCommit);
      return answer(shown(commits, skip, max), { commits });
    },
  });
}

function parseCommit(text: string): Commit {
  const [hash = '', author = '', email = '', date = '', subject = '', ...rest] = text.split(FIELD);
  const body = rest.join(FIELD).trim();
  const cut = body.length > MAX_BODY_CHARS ? `${body.slice(0, MAX_BODY_CHARS)}…` : body;
  return { hash, author, email, date, subject, body: cut };
}

function shown(commits: readonly Commit[], skip: number, max: number): string {
  if (commits.length === 0) return 'No commits.';
  const lines = commits.map(({ hash, author, date, subject, body }) => {
    const indented = body === '' ? '' : `\n${body.replaceAll(/^/gm, '    ')}`;
    return `${hash.slice(0, SHORT_HASH_CHARS)} ${date} ${author}: ${subject}${indented}`;
  });
  const note = commits.length < max ? [] : [`[There may be more: skip ${skip + max} to see them.]`];
  return [...lines, ...note].join('\n');
}
