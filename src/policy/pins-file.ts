/** Reads and writes `pins.json`, and the definitions behind its hashes, so that a change can be shown. */

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Home } from '../config/home.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord } from '../lib/json.ts';
import { replaceFile, updateFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import type { PinnedKind, PinnedPart, PinnedTool } from './pins.ts';
import { PinBook } from './pins-book.ts';

const MAX_DEFINITIONS_BYTES: number = 64 * 1024 * 1024;

/** A definition as it was pinned, and as it is held. */
export interface Versions<T> {
  readonly pinned?: T;
  readonly held?: T;
}

/** The definitions behind the hashes of one server. */
export interface Definitions {
  readonly tools: Readonly<Record<string, Versions<PinnedTool>>>;
  readonly instructions?: Versions<string>;
  readonly parts?: Readonly<
    Partial<Record<PinnedKind, Readonly<Record<string, Versions<PinnedPart['definition']>>>>>
  >;
}

/** Reads `pins.json`; undefined if the file is invalid, so that the pinned state is unknown. */
export async function readPins(home: Home): Promise<PinBook | undefined> {
  // Large and written only by us: the parser for user files (comments, positions) is not needed.
  try {
    return PinBook.read(await readFile(home.pins, 'utf8'));
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '') ? new PinBook() : undefined;
  }
}

/** Changes the file under its lock; `change` gets the current content. */
export async function updatePins(home: Home, change: (book: PinBook) => PinBook): Promise<PinBook> {
  let after = new PinBook();
  await makeFolder(home.dir, 0o700);
  await updateFile(
    home.pins,
    (text) => {
      const book = PinBook.read(text ?? '');
      if (book === undefined) throw new Error('it is not a file of pins');
      after = change(book);
      return after === book ? undefined : String(after);
    },
    { lockDir: join(home.run, 'locks'), mode: 0o600 },
  );
  return after;
}

export async function readDefinitions(home: Home, key: string): Promise<Definitions> {
  const text = await readFile(definitionsFile(home, key), 'utf8').catch(() => '');
  if (text === '' || text.length > MAX_DEFINITIONS_BYTES) return { tools: {} };
  try {
    const value: unknown = JSON.parse(text);
    // Written by us and only displayed: a missing definition is shown as unknown.
    return isRecord(value) && isRecord(value['tools']) ? (value as unknown as Definitions) : { tools: {} };
  } catch {
    return { tools: {} };
  }
}

export async function writeDefinitions(home: Home, key: string, definitions: Definitions): Promise<void> {
  const file = definitionsFile(home, key);
  await makeFolder(dirname(file), 0o700);
  await replaceFile(file, JSON.stringify(definitions), { mode: 0o600 });
}

function definitionsFile(home: Home, key: string): string {
  return join(home.cache, 'pins', `${key}.json`);
}
