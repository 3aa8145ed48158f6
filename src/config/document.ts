/** Reads one configuration file: its value, or its problems with their positions. */

import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { errorCode } from '../lib/error-code.ts';
import { parseJson } from '../lib/json.ts';
import type { Problem } from './entry.ts';
import { type Fault, MAX_CONFIG_DEPTH } from './fault.ts';
import type { EntryFault } from './parse.ts';

/** Larger files are not written by hand, and parsing one would delay every start. */
export const MAX_CONFIG_BYTES: number = 8 * 1024 * 1024;
/** For one file: more are not useful, and locating each one scans the whole file. */
const MAX_PROBLEMS = 100;
const TOO_LARGE = `The file is larger than ${MAX_CONFIG_BYTES / 1024 / 1024} MiB.`;

/** If the system has it: opening a named pipe must not wait for a writer. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export interface Document {
  readonly file: string;
  /** Without a byte order mark; empty if the file does not exist. */
  readonly text: string;
  /** Undefined if the file does not exist, is empty or is invalid. */
  readonly value: unknown;
  /** Present if the file exists and has no text: another program may be about to write it. */
  readonly isEmpty?: true;
  readonly problems: readonly Problem[];
}

/** Reads a file; a missing file is an empty document. Never rejects. `parse` is for other formats. */
export async function readDocument(
  file: string,
  parse: (file: string, text: string) => Document | Promise<Document> = parseDocument,
): Promise<Document> {
  try {
    // Synchronous: for a few small files at start-up this is faster than the thread pool.
    const text = readText(file);
    return text === undefined ? { file, text: '', value: undefined, problems: [] } : await parse(file, text);
  } catch (error) {
    return broken(file, { file, ...explainReading(error) });
  }
}

/** Parses JSON with comments. Tries JSON.parse first: it is by far the fastest and nearly always sufficient. */
export async function parseDocument(file: string, source: string): Promise<Document> {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  // A file that is too large to read must not be edited either.
  if (Buffer.byteLength(text) > MAX_CONFIG_BYTES) return broken(file, { file, message: TOO_LARGE });
  if (text.trim() === '') return { file, text, value: undefined, isEmpty: true, problems: [] };
  const plain = parseJson(text);
  if (plain !== undefined && keysIn(plain) === countKeys(text)) {
    return { file, text, value: plain, problems: [] };
  }

  const { parseJsonc, jsonOf, findDuplicates } = await import('./jsonc.ts');
  const { tree, fault } = parseJsonc(text);
  if (fault) {
    const { line, column, message } = fault;
    return broken(file, {
      file,
      line,
      column,
      message: `The file is not valid JSON: ${message}`,
      hint: 'This file is ignored until it is fixed.',
    });
  }
  if (!tree) return { file, text, value: undefined, problems: [] };
  const value = jsonOf(tree);
  const problems = findDuplicates(text, tree, MAX_PROBLEMS).map(
    ({ path, firstLine, line, column }): Problem => {
      const key = JSON.stringify(path.at(-1));
      const server = serverIn(path);
      return {
        file,
        line,
        column,
        ...(server === undefined ? {} : { server }),
        message: `Duplicate key ${key} (lines ${firstLine} and ${line}); the last one is used`,
        hint: 'Take one of them out.',
      };
    },
  );
  return { file, text, value, problems };
}

/** Converts faults to problems with their positions in the file. */
export async function locateFaults(document: Document, faults: readonly EntryFault[]): Promise<Problem[]> {
  if (faults.length === 0) return [];
  const { parseJsonc, locate } = await import('./jsonc.ts');
  const { tree } = parseJsonc(document.text);
  const problems = faults.slice(0, MAX_PROBLEMS).map((fault): Problem => {
    const place = tree ? locate(document.text, tree, fault.path, fault) : {};
    return { file: document.file, ...place, ...asProblem(fault) };
  });
  const more = faults.length - problems.length;
  if (more > 0)
    problems.push({ file: document.file, message: `${more} more problems of this file are not shown` });
  return problems;
}

/** Returns the position of a problem as editors open it: `file:line:column`. */
export function placeText({ file, line, column }: Pick<Problem, 'file' | 'line' | 'column'>): string {
  return [file, line, column].filter((part) => part !== undefined).join(':');
}

/** Converts a fault to a problem without a position. */
export function asProblem(fault: Fault & { readonly server?: string }): Omit<Problem, 'file'> {
  const { server, message, hint } = fault;
  return { ...(server === undefined ? {} : { server }), message, ...(hint === undefined ? {} : { hint }) };
}

function readText(file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, OPEN_FLAGS);
  } catch (error) {
    // ENOTDIR: a parent of the path is a file, so this file does not exist either.
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
  try {
    const info = fstatSync(descriptor);
    if (info.isDirectory()) throw new Unreadable('This is a folder, not a file');
    if (!info.isFile()) throw new Unreadable('This is not a regular file');
    if (info.size > MAX_CONFIG_BYTES) throw new Unreadable(TOO_LARGE);
    const bytes = readFileSync(descriptor);
    if (!isUtf8(bytes)) throw new Unreadable('The file is not UTF-8 text', 'Save it again as UTF-8.');
    return bytes.toString('utf8');
  } finally {
    closeSync(descriptor);
  }
}

class Unreadable extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

function explainReading(error: unknown): { message: string; hint?: string } {
  if (error instanceof Unreadable) {
    return { message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
  }
  const code = errorCode(error);
  if (code === 'EACCES' || code === 'EPERM') {
    return { message: 'The file cannot be read: permission denied', hint: 'Check its owner and mode.' };
  }
  return { message: `The file cannot be read${code === undefined ? '' : ` (${code})`}.` };
}

function broken(file: string, problem: Problem): Document {
  return { file, text: '', value: undefined, problems: [problem] };
}

/** Counts the keys of all objects in a value; NaN if it is nested deeper than any configuration. */
function keysIn(value: unknown, depth = 1): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > MAX_CONFIG_DEPTH) return Number.NaN;
  let keys = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const member of Object.values(value)) keys += keysIn(member, depth + 1);
  return keys;
}

/** Counts the keys in a valid JSON text: more than in the value means a duplicate key. */
function countKeys(text: string): number {
  let keys = 0;
  for (let quote = text.indexOf('"'); quote !== -1; ) {
    let end = text.indexOf('"', quote + 1);
    while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
    if (end === -1) return keys;
    let after = end + 1;
    while (/\s/.test(text[after] ?? '')) after++;
    if (text[after] === ':') keys++;
    quote = text.indexOf('"', end + 1);
  }
  return keys;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

/** Returns the server that contains a path: below `mcpServers`, at the top level or in a project. */
function serverIn(path: readonly (string | number)[]): string | undefined {
  const below = path[0] === 'projects' ? 2 : 0;
  const name = path[below] === 'mcpServers' ? path[below + 1] : undefined;
  return typeof name === 'string' ? name : undefined;
}
