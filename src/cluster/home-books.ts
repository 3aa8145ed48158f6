/** The parts of a home that replicas share, each as records by name: pins, consent, eras and cached lists. */

import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { change } from '../config/edit-config.ts';
import type { Home } from '../config/home.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord, parseJson, parseRecord } from '../lib/json.ts';
import { replaceFile, updateFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { updatePins } from '../policy/pins-file.ts';

/** A longer record stays in its home. */
export const MAX_SHARED_CHARS: number = 4 * 1024 * 1024;
const LIST_FILE = /^[\w-]{1,80}\.json$/;
const CACHE_MODE = 0o600;

/** Undefined: the record was removed. */
export type BookChanges = ReadonlyMap<string, string | undefined>;

/** Records by name, as texts. */
export interface Book {
  readonly name: string;
  /** Its file, or the folder of its files: its time of change is that of the book. */
  readonly path: string;
  /** Whether a record that is missing in this home was removed, and is removed for all. */
  readonly removes: boolean;
  read(): Promise<ReadonlyMap<string, string>>;
  write(changes: BookChanges): Promise<void>;
  /** Returns the part of a record that matters: a list that was only read again is the same. */
  essence(text: string): string;
}

export function booksOf(home: Home): readonly Book[] {
  return [
    pinsBook(home),
    consentBook(home),
    erasBook(home),
    listsBook('tools', join(home.cache, 'tools')),
    listsBook('content', join(home.cache, 'content')),
  ];
}

function pinsBook(home: Home): Book {
  return {
    name: 'pins',
    path: home.pins,
    removes: false,
    async read() {
      const { servers } = parseRecord(await textOf(home.pins)) ?? {};
      return jsonRecords(servers);
    },
    async write(changes) {
      await updatePins(home, (book) =>
        [...changes].reduce((after, [key, text]) => {
          const record = text === undefined ? undefined : parseRecord(text);
          // Checked when it is read: a record that is not one of pins holds all tools of its server.
          return record === undefined ? after : after.with(key, record as never);
        }, book),
      );
    },
    essence: (text) => text,
  };
}

/** Approvals by their path in `trust.json`. */
function consentBook(home: Home): Book {
  return {
    name: 'consent',
    path: home.trust,
    removes: true,
    async read() {
      const records = new Map<string, string>();
      for (const [kind, folders] of members(parseJson(await textOf(home.trust))))
        for (const [folder, servers] of members(folders))
          for (const [server, consent] of members(servers))
            records.set(JSON.stringify([kind, folder, server]), canonicalJson(consent));
      return records;
    },
    async write(changes) {
      await change(home.trust, { home }, () =>
        [...changes].flatMap(([name, text]) => {
          const path = parseJson(name);
          if (!Array.isArray(path) || path.length !== 3) return [];
          return [{ path: path.map(String), value: text === undefined ? undefined : parseJson(text) }];
        }),
      );
    },
    essence: (text) => text,
  };
}

function erasBook(home: Home): Book {
  const file = join(home.cache, 'eras.json');
  return {
    name: 'eras',
    path: file,
    removes: false,
    read: async () => jsonRecords(parseJson(await textOf(file))),
    async write(changes) {
      await makeFolder(home.cache, 0o700);
      await updateFile(
        file,
        (text) => {
          const all = { ...(parseRecord(text ?? '') ?? {}) };
          for (const [key, value] of changes) if (value !== undefined) all[key] = parseJson(value);
          return `${JSON.stringify(all)}\n`;
        },
        { lockDir: join(home.run, 'locks'), mode: CACHE_MODE },
      );
    },
    essence: undated,
  };
}

/** Cached lists, one file each. */
function listsBook(name: string, folder: string): Book {
  return {
    name,
    path: folder,
    removes: false,
    async read() {
      const names = (await readdir(folder).catch(() => [])).filter((each) => LIST_FILE.test(each));
      const texts = await Promise.all(names.map((each) => textOf(join(folder, each))));
      return new Map(names.flatMap((each, at) => (texts[at] ? [[each, texts[at]]] : [])));
    },
    async write(changes) {
      await makeFolder(folder, 0o700);
      for (const [each, text] of changes)
        if (text !== undefined && LIST_FILE.test(each) && basename(each) === each)
          await replaceFile(join(folder, each), text, { mode: CACHE_MODE, durable: false });
    },
    essence: undated,
  };
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

function members(value: unknown): readonly (readonly [string, unknown])[] {
  return isRecord(value) ? Object.entries(value) : [];
}

/** Keeps the order of members: the seal of a pin is expected first. */
function jsonRecords(value: unknown): ReadonlyMap<string, string> {
  return new Map(members(value).map(([key, record]) => [key, JSON.stringify(record)]));
}

function undated(text: string): string {
  const { at: _at, ...rest } = parseRecord(text) ?? {};
  return canonicalJson(rest);
}
