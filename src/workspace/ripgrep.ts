/** Searches with ripgrep: builds its arguments and parses its output. */

import { PlugboardError } from '../errors.ts';
import { clean } from '../policy/clean.ts';
import { MAX_WHOLE_BYTES } from './file-text.ts';
import { GIT_FOLDER, type GrepJob, MAX_ROW_CHARS, PACKAGES_FOLDER, type Row } from './search-job.ts';
import { heartbeat, SEARCH_MS, type Searched } from './search-thread.ts';
import type { Call, Workspace } from './workspace-context.ts';
import { badPath } from './workspace-errors.ts';

const MAX_STDERR_BYTES = 4_096;
const MAX_ERROR_CHARS = 1_000;
const NOTHING_FOUND = 1;
/** Limit on an incomplete line: longer than any path and line that ripgrep prints. */
const MAX_PENDING_CHARS = 64 * 1024;

/** The target of a search: a working folder, or an open file. */
export type Target =
  | { readonly cwd: string }
  | { readonly cwd: string; readonly fd: number; readonly path: string };

export async function searchWithRipgrep(
  { children, clock, programs }: Workspace,
  target: Target,
  job: GrepJob,
  call: Call,
): Promise<Searched> {
  const parser = new RowParser(job, 'fd' in target ? target.path : undefined);
  const stopBeat = heartbeat(clock, () =>
    call.progress(parser.hits, undefined, `${parser.hits} matches so far`),
  );
  const { RIPGREP_CONFIG_PATH: _config, ...env } = process.env;
  try {
    const { code, stderr, timedOut } = await children.run({
      program: programs.rg ?? 'rg',
      args: [...argumentsOf(job), ...('fd' in target ? ['-'] : ['./'])],
      cwd: target.cwd,
      env,
      signal: call.signal,
      timeoutMs: SEARCH_MS,
      maxBytes: MAX_STDERR_BYTES,
      onOutput: (chunk) => parser.take(chunk),
      ...('fd' in target ? { input: target.fd } : {}),
    });
    // ripgrep also fails for single files that it cannot read; its matches are still used.
    const isBroken = code !== null && code > NOTHING_FOUND && parser.hits === 0;
    if (isBroken) throw complaint(stderr.toString('utf8'));
    return { files: parser.files, rows: parser.rows, truncated: parser.isFull || timedOut, timedOut };
  } finally {
    stopBeat();
  }
}

function argumentsOf(job: GrepJob): readonly string[] {
  return [
    '--no-config',
    '--no-messages',
    '--color=never',
    '--hidden',
    '--null',
    '--no-heading',
    '--with-filename',
    `--max-filesize=${MAX_WHOLE_BYTES}`,
    ...(job.includeIgnored ? ['--no-ignore'] : []),
    ...(job.glob === undefined ? [] : [`--glob=${job.glob}`]),
    `--glob=!${GIT_FOLDER}`,
    ...(job.includeIgnored ? [] : [`--glob=!${PACKAGES_FOLDER}`]),
    ...(job.ignoreCase ? ['--ignore-case'] : ['--case-sensitive']),
    ...(job.literal ? ['--fixed-strings'] : []),
    ...(job.filesOnly
      ? ['--files-with-matches']
      : [
          '--line-number',
          `--max-columns=${MAX_ROW_CHARS}`,
          '--max-columns-preview',
          `--context=${job.context}`,
          '--no-context-separator',
        ]),
    `--regexp=${job.pattern}`,
    '--',
  ];
}

function complaint(stderr: string): Error {
  const text = clean(stderr, { max: MAX_ERROR_CHARS }).trim();
  if (text === '') return new PlugboardError('INTERNAL', 'Ripgrep failed without an error message');
  return badPath(
    text,
    'The pattern is a regular expression as ripgrep knows it; literal takes it as plain text.',
  );
}

/**
 * Parses `path NUL line:text LF` for a match, `path NUL line-text LF` for a context line; or `path NUL` with
 * `filesOnly`.
 */
class RowParser {
  readonly files: string[] = [];
  readonly rows: Row[] = [];
  hits = 0;
  isFull = false;
  readonly #job: GrepJob;
  readonly #path: string | undefined;
  readonly #decoder = new TextDecoder();
  #pending = '';

  constructor(job: GrepJob, path: string | undefined) {
    this.#job = job;
    this.#path = path;
  }

  /** Returns false if the limit is reached. */
  take(chunk: Buffer): boolean {
    this.#pending += this.#decoder.decode(chunk, { stream: true });
    let from = 0;
    while (!this.isFull) {
      const nul = this.#pending.indexOf('\0', from);
      const end = this.#job.filesOnly ? nul : this.#pending.indexOf('\n', nul + 1);
      if (nul === -1 || end === -1) break;
      this.#row(this.#pending.slice(from, nul), this.#pending.slice(nul + 1, end));
      from = end + 1;
    }
    this.#pending = this.#pending.slice(from);
    if (this.#pending.length > MAX_PENDING_CHARS) this.isFull = true;
    return !this.isFull;
  }

  #row(name: string, rest: string): void {
    const path = this.#path ?? name.replace(/^\.\//, '');
    const [, digits = '', mark = '', text = ''] = /^(\d+)([:-])(.*)$/s.exec(rest) ?? [];
    const isMatch = this.#job.filesOnly || mark === ':';
    if (isMatch && this.hits >= this.#job.max) {
      this.isFull = true;
      return;
    }
    if (isMatch) this.hits += 1;
    if (this.#job.filesOnly) this.files.push(path);
    else this.rows.push({ path, line: Number(digits), text: text.replace(/\r$/, ''), isMatch });
  }
}
