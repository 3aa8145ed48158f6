/** The `git_status` tool: the branch and the changed files. */

import { relative, sep } from 'node:path';
import { type Tool, tool } from '../kit/definitions.ts';
import { Git } from './git.ts';
import { answer, readOnly, type Workspace } from './workspace-context.ts';

const MAX_STATUS_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 1_000;

export interface ChangedFile {
  readonly path: string;
  /** The previous path of a renamed or copied file. */
  readonly from?: string;
  /** `M`, `A`, `D`, `R`, `C`, `T`, or `?` for an untracked file. */
  readonly change: string;
}

interface Status {
  readonly branch: string;
  readonly upstream?: string;
  readonly ahead: number;
  readonly behind: number;
  readonly staged: readonly ChangedFile[];
  readonly unstaged: readonly ChangedFile[];
  readonly untracked: readonly string[];
  readonly conflicted: readonly string[];
  readonly truncated: boolean;
}

const changedFiles = {
  type: 'array',
  items: {
    type: 'object',
    properties: { path: { type: 'string' }, from: { type: 'string' }, change: { type: 'string' } },
    required: ['path', 'change'],
  },
} as const;
const paths = { type: 'array', items: { type: 'string' } } as const;

export function gitStatusTool(workspace: Workspace): Tool {
  return tool({
    name: 'git_status',
    description: 'Shows the branch and which files are staged, changed, unknown to git or in conflict.',
    input: { type: 'object', properties: {}, additionalProperties: false },
    output: {
      type: 'object',
      properties: {
        branch: { type: 'string' },
        upstream: { type: 'string' },
        ahead: { type: 'integer' },
        behind: { type: 'integer' },
        staged: changedFiles,
        unstaged: changedFiles,
        untracked: paths,
        conflicted: paths,
        truncated: { type: 'boolean' },
      },
      required: ['branch', 'ahead', 'behind', 'staged', 'unstaged', 'untracked', 'conflicted', 'truncated'],
    },
    annotations: readOnly('Git status'),

    async run(_input, call) {
      const git = await Git.open(workspace, call);
      const args = [
        'status',
        '--porcelain=v2',
        '--branch',
        '-z',
        '--untracked-files=all',
        '--ignore-submodules=dirty',
      ];
      const text = await git.answer([...args, '--', ...git.pathspec(undefined)], {
        signal: call.signal,
        maxBytes: MAX_STATUS_BYTES,
      });
      const prefix = relative(git.top, workspace.root.path).split(sep).join('/');
      const status = parseStatus(text, prefix === '' ? '' : `${prefix}/`);
      return answer(shown(status), { ...status });
    },
  });
}

/**
 * Parses the output of `git status`. `prefix`: the path from the top of the repository to the project, because git
 * prints paths relative to the top.
 */
export function parseStatus(text: string, prefix: string): Status {
  const words = text.split('\0');
  const head = new Map<string, string>();
  const [staged, unstaged]: [ChangedFile[], ChangedFile[]] = [[], []];
  const [untracked, conflicted]: [string[], string[]] = [[], []];
  const own = (path: string): string => (path.startsWith(prefix) ? path.slice(prefix.length) : path);
  let count = 0;
  for (let at = 0; at < words.length && count <= MAX_FILES; at += 1) {
    const word = words[at] ?? '';
    const kind = word[0];
    if (kind === '#') {
      const [, key = '', ...rest] = word.split(' ');
      head.set(key, rest.join(' '));
      continue;
    }
    if (kind === undefined) continue;
    count += 1;
    if (count > MAX_FILES) break;
    if (kind === '?') untracked.push(own(word.slice(2)));
    if (kind === 'u') conflicted.push(own(afterFields(word, UNMERGED_FIELDS)));
    if (kind !== '1' && kind !== '2') continue;
    const path = own(afterFields(word, kind === '1' ? ORDINARY_FIELDS : RENAMED_FIELDS));
    // The old name is a separate field.
    if (kind === '2') at += 1;
    const from = kind === '2' ? { from: own(words[at] ?? '') } : {};
    const [index = '.', tree = '.'] = word.slice(2, 4);
    if (index !== '.') staged.push({ path, ...from, change: index });
    if (tree !== '.') unstaged.push({ path, ...from, change: tree });
  }
  const [ahead = 0, behind = 0] = (head.get('branch.ab') ?? '').match(/\d+/g)?.map(Number) ?? [];
  const upstream = head.get('branch.upstream');
  return {
    branch: head.get('branch.head') ?? '',
    ...(upstream === undefined ? {} : { upstream }),
    ahead,
    behind,
    staged,
    unstaged,
    untracked,
    conflicted,
    truncated: count > MAX_FILES,
  };
}

/** Number of fields before the path in each kind of line. */
const ORDINARY_FIELDS = 8;
const RENAMED_FIELDS = 9;
const UNMERGED_FIELDS = 10;

function afterFields(line: string, fields: number): string {
  let at = 0;
  for (let field = 0; field < fields; field += 1) at = line.indexOf(' ', at) + 1;
  return line.slice(at);
}

function shown(status: Status): string {
  const { branch, upstream, ahead, behind } = status;
  const drift = [ahead > 0 ? `${ahead} ahead` : '', behind > 0 ? `${behind} behind` : '']
    .filter(Boolean)
    .join(', ');
  const against = upstream === undefined ? '' : ` (${upstream}${drift === '' ? '' : `: ${drift}`})`;
  const changed = ({ path, from, change }: ChangedFile): string =>
    `  ${change} ${from === undefined ? '' : `${from} -> `}${path}`;
  const group = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : [`${title}:`, ...lines];
  const lines = [
    ...group(
      'Conflicted',
      status.conflicted.map((path) => `  ${path}`),
    ),
    ...group('Staged', status.staged.map(changed)),
    ...group('Not staged', status.unstaged.map(changed)),
    ...group(
      'Untracked',
      status.untracked.map((path) => `  ${path}`),
    ),
  ];
  const rest = lines.length === 0 ? ['Nothing changed.'] : lines;
  const note = status.truncated ? [`[Only the first ${MAX_FILES} are shown.]`] : [];
  return [`On ${branch}${against}`, ...rest, ...note].join('\n');
}
