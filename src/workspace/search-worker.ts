/**
 * The worker thread that walks and searches without ripgrep: a pattern that never finishes can be terminated with it.
 */

import { closeSync, readdirSync } from 'node:fs';
import { posix, sep } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import picomatch from 'picomatch';
import { attempt } from '../lib/attempt.ts';
import { Root } from './confined-root.ts';
import { isBinary, readWhole } from './file-text.ts';
import { openIn } from './open-file.ts';
import { openPinned, type PinnedFolder } from './pinned-folder.ts';
import {
  GIT_FOLDER,
  type GlobJob,
  type GrepJob,
  MAX_ROW_CHARS,
  PACKAGES_FOLDER,
  type Row,
  type SearchMessage,
} from './search-job.ts';

/** Deeper folders are skipped: each level keeps one file open. */
const MAX_DEPTH = 100;
const FILES_PER_PROGRESS = 500;

type Job = GlobJob | GrepJob;

/** A file to search, in a folder that is open during the search. */
interface Found {
  readonly path: string;
  readonly folder: PinnedFolder;
  readonly name: string;
}

const post = (message: SearchMessage): void => parentPort?.postMessage(message);

try {
  post({ type: 'end', truncated: search(workerData as Job) });
} catch (thrown) {
  post({ type: 'failed', message: thrown instanceof Error ? thrown.message : String(thrown) });
}

/** Returns whether there are more results. */
function search(job: Job): boolean {
  const matches = job.glob === undefined ? undefined : globMatcher(job.glob);
  const finder = job.kind === 'grep' ? lineFinder(job) : undefined;
  const total = job.files?.length;
  let [searched, found] = [0, 0];
  for (const file of job.files === undefined ? walkAll(job) : listed(job, job.files)) {
    searched += 1;
    if (searched % FILES_PER_PROGRESS === 0) post({ type: 'progress', searched, total });
    if (matches !== undefined && !matches(file.path)) continue;
    if (finder === undefined) {
      if (found >= job.max) return true;
      found += isThere(file) ? 1 : 0;
      continue;
    }
    const rows = finder(file, job.max - found);
    if (rows === undefined) return true;
    found += rows;
  }
  return false;
}

/** A pattern without a slash matches names in any folder, as in .gitignore. */
function globMatcher(glob: string): (path: string) => boolean {
  return picomatch(glob, { dot: true, basename: !glob.includes('/') });
}

/** Checks that a file exists: git also lists deleted files. */
function isThere({ folder, name, path }: Found): boolean {
  const file = tryOpen(folder, name);
  if (file === undefined) return false;
  closeSync(file.fd);
  post({ type: 'files', paths: [path] });
  return true;
}

/** Returns the number of results in a file; undefined if the limit was reached. */
function lineFinder(job: GrepJob): (file: Found, room: number) => number | undefined {
  const source = job.literal ? job.pattern.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&') : job.pattern;
  const pattern = new RegExp(source, job.ignoreCase ? 'iu' : 'u');
  return ({ folder, name, path }, room) => {
    const lines = linesIn(folder, name);
    if (lines === undefined) return 0;
    const hits: number[] = [];
    for (const [at, line] of lines.entries()) {
      if (!pattern.test(line)) continue;
      if (hits.length >= room) {
        postRows(path, lines, hits, job);
        return undefined;
      }
      hits.push(at);
      if (job.filesOnly) break;
    }
    postRows(path, lines, hits, job);
    return hits.length;
  };
}

function linesIn(folder: PinnedFolder, name: string): readonly string[] | undefined {
  const file = tryOpen(folder, name);
  if (file === undefined) return undefined;
  try {
    const bytes = readWhole(file);
    if (bytes === undefined || isBinary(bytes)) return undefined;
    const lines = bytes.toString('utf8').split(/\r?\n/);
    if (lines.at(-1) === '') lines.pop();
    return lines;
  } finally {
    closeSync(file.fd);
  }
}

function postRows(path: string, lines: readonly string[], hits: readonly number[], job: GrepJob): void {
  if (hits.length === 0) return;
  if (job.filesOnly) {
    post({ type: 'files', paths: [path] });
    return;
  }
  const matching = new Set(hits);
  const wanted = new Set<number>();
  for (const hit of hits) {
    const last = Math.min(hit + job.context, lines.length - 1);
    for (let at = Math.max(hit - job.context, 0); at <= last; at += 1) wanted.add(at);
  }
  const rows = [...wanted]
    .sort((a, b) => a - b)
    .map((at): Row => {
      const text = lines[at] ?? '';
      const shown = text.length > MAX_ROW_CHARS ? `${text.slice(0, MAX_ROW_CHARS)}…` : text;
      return { path, line: at + 1, text: shown, isMatch: matching.has(at) };
    });
  post({ type: 'rows', rows });
}

/** Returns undefined for links, pipes and unreadable files. */
function tryOpen(folder: PinnedFolder, name: string): ReturnType<typeof openIn> | undefined {
  return attempt(() => openIn(folder, name, name), undefined);
}

function* walkAll({ root, folder, includeIgnored }: Job): Generator<Found> {
  const boundary = new Root(root);
  const start = openPinned(folder, (real) => boundary.contains(real));
  try {
    yield* walk(start, '', includeIgnored, MAX_DEPTH);
  } finally {
    start.close();
  }
}

function* walk(folder: PinnedFolder, prefix: string, all: boolean, depth: number): Generator<Found> {
  const entries = readdirSync(folder.path, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const { name } = entry;
    if (entry.isFile()) yield { path: `${prefix}${name}`, folder, name };
    const isClosed = name === GIT_FOLDER || (name === PACKAGES_FOLDER && !all);
    if (!entry.isDirectory() || isClosed || depth <= 1) continue;
    const child = attempt(() => folder.child(name), undefined);
    if (child === undefined) continue;
    try {
      yield* walk(child, `${prefix}${name}/`, all, depth - 1);
    } finally {
      child.close();
    }
  }
}

/** Opens the files of a list, and keeps the current folder open for the next file. */
function* listed({ root, folder, includeIgnored }: Job, files: readonly string[]): Generator<Found> {
  const boundary = new Root(root);
  let [open, at]: [PinnedFolder | undefined, string | undefined] = [undefined, undefined];
  try {
    for (const path of files) {
      const parts = path.split('/');
      if (parts.includes(GIT_FOLDER) || (!includeIgnored && parts.includes(PACKAGES_FOLDER))) continue;
      const parent = posix.dirname(path);
      if (parent !== at) {
        open?.close();
        open = attempt(() => boundary.enter(boundary.locate(`${folder}${sep}${parent}`)), undefined);
        at = parent;
      }
      if (open !== undefined) yield { path, folder: open, name: posix.basename(path) };
    }
  } finally {
    open?.close();
  }
}
