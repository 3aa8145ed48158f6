/** Finds calls in the files of the history: page by page from the newest, or one by its key. */

import { readFile } from 'node:fs/promises';
import type { HistoryFile, HistoryFiles } from './history-files.ts';
import { type PastCall, type PastValues, readPastCall, readPastValues, SEPARATOR } from './history-record.ts';

/** Bytes that one page reads at most; the next page continues there. */
const MAX_READ_BYTES: number = 48 * 1024 * 1024;
const LINE_BREAK = 0x0a;
const SEPARATOR_BYTE: number = SEPARATOR.charCodeAt(0);

export interface HistoryQuery {
  readonly limit: number;
  /** Where the page begins: `next` of the page before. */
  readonly before?: string | undefined;
  /** Whether a call belongs to the list, decided without its values. */
  readonly matches: (call: PastCall) => boolean;
  /** Words in lower case that must occur in the call or its values. */
  readonly words?: readonly string[] | undefined;
}

export interface HistoryPage {
  /** Newest end first. */
  readonly calls: readonly PastCall[];
  /** Undefined if there are no more. */
  readonly next?: string;
}

export async function searchHistory(files: HistoryFiles, query: HistoryQuery): Promise<HistoryPage> {
  const { limit, matches, words = [] } = query;
  const start = readCursor(query.before);
  const oldest = files.oldest;
  const calls: PastCall[] = [];
  let read = 0;
  for (const file of await files.list()) {
    if (start !== undefined && file.name > start.name) continue;
    const isFirst = file.name === start?.name;
    if (read > 0 && read + file.bytes > MAX_READ_BYTES) return { calls, next: cursorOf(file, file.bytes) };
    const bytes = await contentOf(file);
    read += bytes.length;
    let end = isFirst ? Math.min(start.offset, bytes.length) : bytes.length;
    while (end > 0) {
      if (calls.length === limit) return { calls, next: cursorOf(file, end) };
      const from = bytes.lastIndexOf(LINE_BREAK, end - 2) + 1;
      const line = bytes.subarray(from, end);
      end = from;
      const call = callIn(line);
      if (call === undefined || call.at < oldest || !matches(call)) continue;
      if (words.length === 0 || hasWords(line, words)) calls.push(call);
    }
  }
  return { calls };
}

/** Returns the call of a key with its values. */
export async function findInHistory(
  files: HistoryFiles,
  key: string,
): Promise<(PastCall & PastValues) | undefined> {
  const wanted = Buffer.from(`"key":${JSON.stringify(key)}`);
  for (const file of await files.list()) {
    const bytes = await contentOf(file);
    for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + 1)) {
      const from = bytes.lastIndexOf(LINE_BREAK, at) + 1;
      const end = bytes.indexOf(LINE_BREAK, at);
      const line = bytes.subarray(from, end === -1 ? bytes.length : end);
      const call = callIn(line);
      if (call?.key !== key || call.at < files.oldest) continue;
      const values = line.subarray(line.indexOf(SEPARATOR_BYTE) + 1).toString();
      return { ...call, ...readPastValues(values) };
    }
  }
  return undefined;
}

function callIn(line: Buffer): PastCall | undefined {
  const at = line.indexOf(SEPARATOR_BYTE);
  return at === -1 ? undefined : readPastCall(line.subarray(0, at).toString());
}

function hasWords(line: Buffer, words: readonly string[]): boolean {
  const text = line.toString().toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Empty if the file was deleted since it was listed. */
function contentOf({ path }: HistoryFile): Promise<Buffer> {
  return readFile(path).catch(() => Buffer.alloc(0));
}

function cursorOf({ name }: HistoryFile, offset: number): string {
  return `${name}.${offset}`;
}

function readCursor(
  text: string | undefined,
): { readonly name: string; readonly offset: number } | undefined {
  const [, name, offset] = /^(.{1,60})\.(\d{1,12})$/.exec(text ?? '') ?? [];
  return name === undefined ? undefined : { name, offset: Number(offset) };
}
