/** The `grep` tool: finds matching lines in the project's files, with ripgrep or, without it, in a worker thread. */

import { type Tool, tool } from '../kit/definitions.ts';
import type { ToolResult } from '../kit/handler-results.ts';
import { attempt } from '../lib/attempt.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import type { Place } from './confined-root.ts';
import { ownFiles } from './glob-tool.ts';
import { withFile } from './open-file.ts';
import type { PinnedFolder } from './pinned-folder.ts';
import { searchWithRipgrep } from './ripgrep.ts';
import type { GrepJob, Row } from './search-job.ts';
import { type Searched, searchInThread } from './search-thread.ts';
import { answer, type Call, readOnly, type Workspace } from './workspace-context.ts';

const DEFAULT_RESULTS = 200;
const MAX_RESULTS = 2_000;
const MAX_CONTEXT = 20;
const MAX_PATTERN_CHARS = 1_000;
/** Cap on total output including context lines. */
const MAX_ANSWER_CHARS = 100_000;

export function grepTool(workspace: Workspace): Tool {
  return tool({
    name: 'grep',
    description:
      'Searches files of the project line by line for a regular expression. Binary files, files that git ignores ' +
      'and links are left out. Answers with path, line number and line.',
    input: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: MAX_PATTERN_CHARS,
          description: 'What to search for.',
        },
        path: { type: 'string', description: 'A folder or file, relative to the project root (the root).' },
        glob: {
          type: 'string',
          minLength: 1,
          maxLength: MAX_PATTERN_CHARS,
          description: 'Only files like *.ts.',
        },
        literal: { type: 'boolean', description: 'The pattern is plain text (false).' },
        ignore_case: { type: 'boolean', description: 'Upper and lower case are the same (false).' },
        context: {
          type: 'integer',
          minimum: 0,
          maximum: MAX_CONTEXT,
          description: 'Lines around each match (0).',
        },
        files_only: { type: 'boolean', description: 'Only which files match (false).' },
        include_ignored: { type: 'boolean', description: 'Also files that git ignores (false).' },
        max_results: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_RESULTS,
          description: `How many matches at most (${DEFAULT_RESULTS}).`,
        },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        files: { type: 'array', items: { type: 'string' }, description: 'Files with matches.' },
        matches: {
          type: 'array',
          description: 'Empty with files_only.',
          items: {
            type: 'object',
            properties: { path: { type: 'string' }, line: { type: 'integer' }, text: { type: 'string' } },
            required: ['path', 'line', 'text'],
          },
        },
        truncated: { type: 'boolean', description: 'Whether there may be more.' },
      },
      required: ['files', 'matches', 'truncated'],
    },
    annotations: readOnly('Search files'),

    async run(input, call) {
      const place = workspace.root.locate(input.path ?? '.');
      const target = await targetOf(workspace, place);
      const job: GrepJob = {
        kind: 'grep',
        root: workspace.root.path,
        folder: target.real,
        files: undefined,
        includeIgnored: input.include_ignored ?? false,
        glob: input.glob,
        pattern: input.pattern,
        literal: input.literal ?? false,
        ignoreCase: input.ignore_case ?? false,
        context: input.context ?? 0,
        filesOnly: input.files_only ?? false,
        max: input.max_results ?? DEFAULT_RESULTS,
      };
      const found = await search(workspace, target, job, call);
      const prefix = target.shown === '.' ? '' : `${target.shown}/`;
      return resultOf(found, (path) => `${prefix}${path}`, job);
    },
  });
}

/** A folder to search in; or a file, with its folder. */
interface Target extends Place {
  readonly file?: { readonly place: Place; readonly name: string };
}

async function targetOf({ root }: Workspace, place: Place): Promise<Target> {
  let folder: PinnedFolder;
  try {
    folder = root.enter(place);
  } catch {
    // Not a folder: treat it as a file; opening it reports any other problem.
    const { folder: parent, name } = root.enterParent(place);
    parent.close();
    await withFile(root, place, () => {});
    return { real: parent.real, shown: root.shown(parent.real), file: { place, name } };
  }
  folder.close();
  return place;
}

async function search(workspace: Workspace, target: Target, job: GrepJob, call: Call): Promise<Searched> {
  const { root, programs } = workspace;
  const { file } = target;
  if (programs.rg === undefined) {
    const own =
      job.includeIgnored || file !== undefined ? undefined : await ownFiles(workspace, target.real, call);
    return searchInThread(workspace, { ...job, files: file === undefined ? own : [file.name] }, call);
  }
  if (file !== undefined) {
    const { glob: _glob, ...rest } = job;
    return withFile(root, file.place, ({ fd }) =>
      searchWithRipgrep(
        workspace,
        { cwd: root.path, fd, path: file.name },
        { ...rest, glob: undefined },
        call,
      ),
    );
  }
  const folder = root.enter(target);
  try {
    return insideOnly(root, target, await searchWithRipgrep(workspace, { cwd: folder.path }, job, call));
  } finally {
    folder.close();
  }
}

/** Filters the results of ripgrep, which uses paths: removes files that were replaced by links during the search. */
function insideOnly(root: Workspace['root'], { real }: Place, found: Searched): Searched {
  const verdicts = new Map<string, boolean>();
  const leadsInside = (path: string): boolean =>
    attempt(() => root.locate(`${real}/${path}`), undefined) !== undefined;
  const isInside = (path: string): boolean => getOrMake(verdicts, path, () => leadsInside(path));
  return {
    ...found,
    files: found.files.filter(isInside),
    rows: found.rows.filter(({ path }) => isInside(path)),
  };
}

function resultOf(found: Searched, named: (path: string) => string, job: GrepJob): ToolResult {
  const all = found.rows.map((row) => ({ ...row, path: named(row.path) })).sort(byPlace);
  const rows = all.slice(0, fitting(all));
  const matches = rows.filter(({ isMatch }) => isMatch).map(({ path, line, text }) => ({ path, line, text }));
  const files = job.filesOnly ? found.files.map(named).sort() : [...new Set(matches.map(({ path }) => path))];
  const note = noteOn(found, job, rows.length < all.length);
  const lines = job.filesOnly ? files : grouped(rows);
  const text = [...(lines.length === 0 ? ['Nothing matches.'] : lines), ...note].join('\n');
  return answer(text, { files, matches, truncated: note.length > 0 });
}

/** Returns how many rows fit into the answer. */
function fitting(rows: readonly Row[]): number {
  let room = MAX_ANSWER_CHARS;
  const end = rows.findIndex(({ path, text }) => {
    room -= path.length + text.length;
    return room < 0;
  });
  return end === -1 ? rows.length : end;
}

function noteOn({ truncated, timedOut }: Searched, { max }: GrepJob, isCut: boolean): readonly string[] {
  if (timedOut) return ['[The search took too long and was ended; search a folder, or use a glob.]'];
  if (isCut)
    return [`[Cut after ${MAX_ANSWER_CHARS} characters; narrow the search, or ask for less context.]`];
  if (!truncated) return [];
  return [`[Only ${max} matches are shown; narrow the search, or raise max_results (up to ${MAX_RESULTS}).]`];
}

function byPlace(a: Row, b: Row): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.line - b.line;
}

/** Lists each file once, with its lines below: `12: a match`, `13- a context line`. */
function grouped(rows: readonly Row[]): readonly string[] {
  const out: string[] = [];
  let [path, line]: [string | undefined, number] = [undefined, 0];
  for (const row of rows) {
    if (row.path !== path) out.push(row.path);
    else if (row.line > line + 1) out.push('  …');
    ({ path, line } = row);
    out.push(`  ${row.line}${row.isMatch ? ':' : '-'} ${row.text}`);
  }
  return out;
}
