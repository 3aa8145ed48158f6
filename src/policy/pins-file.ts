/**
 * The stored pins: reads, merges and writes `pins.json`, and keeps the definitions behind its hashes, so that a change
 * can be shown.
 */

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Home } from '../config/home.ts';
import { defined } from '../lib/defined.ts';
import { errorCode } from '../lib/error-code.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { isRecord, own, parseRecord } from '../lib/json.ts';
import { replaceFile, updateFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import {
  hashInstructions,
  hashPart,
  hashRest,
  hashTool,
  heldHash,
  type PinMode,
  type PinnedKind,
  type PinnedListing,
  type PinnedPart,
  type PinnedParts,
  type PinnedTool,
  type PinRecord,
  sealed,
  stableDefinition,
} from './pins.ts';

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
  const value = parseRecord(text);
  // Written by us and only displayed: a missing definition is shown as unknown.
  return isRecord(value?.['tools']) ? (value as unknown as Definitions) : { tools: {} };
}

export async function writeDefinitions(home: Home, key: string, definitions: Definitions): Promise<void> {
  const file = definitionsFile(home, key);
  await makeFolder(dirname(file), 0o700);
  await replaceFile(file, JSON.stringify(definitions), { mode: 0o600 });
}

function definitionsFile(home: Home, key: string): string {
  return join(home.cache, 'pins', `${key}.json`);
}

/** Increased when the hash algorithm changes. */
const FORMAT = 1;
const HEAD = `{"version":${FORMAT},"servers":{\n`;
const TAIL = '\n}}\n';
const SEPARATOR = ',\n';
/** A line as we write it: the key, then the record with its seal first. */
const LINE = /^"([0-9a-f]{1,64})":(\{"seal":"([0-9a-f]{64})",.*\})$/s;

interface Line {
  readonly seal: string;
  /** The record as JSON. */
  readonly json: string;
}

export class PinBook {
  readonly #lines: ReadonlyMap<string, Line>;
  readonly #records = new Map<string, PinRecord>();

  constructor(lines: ReadonlyMap<string, Line> = new Map()) {
    this.#lines = lines;
  }

  /** Parses the file; undefined if it is invalid, so that the pinned state is unknown. */
  static read(text: string): PinBook | undefined {
    if (text.trim() === '') return new PinBook();
    const lines = ownLines(text) ?? foreignLines(text);
    return lines === undefined ? undefined : new PinBook(lines);
  }

  seal(key: string): string | undefined {
    return this.#lines.get(key)?.seal;
  }

  /** Returns the record of a key; throws if it is invalid. */
  get(key: string): PinRecord | undefined {
    const line = this.#lines.get(key);
    if (line === undefined) return undefined;
    return getOrMake(this.#records, key, () => {
      const record = asRecord(JSON.parse(line.json));
      if (record === undefined) throw new Error(`the pins under ${key} are broken`);
      return record;
    });
  }

  with(key: string, record: PinRecord): PinBook {
    const { seal, ...rest } = record;
    return new PinBook(new Map(this.#lines).set(key, { seal, json: JSON.stringify({ seal, ...rest }) }));
  }

  toString(): string {
    const lines = Array.from(this.#lines, ([key, { json }]) => `${JSON.stringify(key)}:${json}`);
    return `${HEAD}${lines.join(SEPARATOR)}${TAIL}`;
  }
}

function ownLines(text: string): Map<string, Line> | undefined {
  if (!text.startsWith(HEAD) || !text.endsWith(TAIL)) return undefined;
  const lines = new Map<string, Line>();
  const inner = text.slice(HEAD.length, -TAIL.length);
  for (const line of inner === '' ? [] : inner.split(SEPARATOR)) {
    const [, key, json, seal] = LINE.exec(line) ?? [];
    if (key === undefined || json === undefined || seal === undefined) return undefined;
    lines.set(key, { seal, json });
  }
  return lines;
}

/** Parses a file written by an earlier version or by hand. */
function foreignLines(text: string): Map<string, Line> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || value['version'] !== FORMAT || !isRecord(value['servers'])) return undefined;
    const lines = new Map<string, Line>();
    for (const [key, each] of Object.entries(value['servers'])) {
      const record = asRecord(each);
      if (record === undefined) return undefined;
      const { seal, ...rest } = record;
      lines.set(key, { seal, json: JSON.stringify({ seal, ...rest }) });
    }
    return lines;
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): PinRecord | undefined {
  if (!isRecord(value) || typeof value['server'] !== 'string' || typeof value['seal'] !== 'string')
    return undefined;
  if (!isHashes(value['tools']) || (value['held'] !== undefined && !isHashes(value['held'])))
    return undefined;
  return value as unknown as PinRecord; // checked above; the rest is compared, never run
}

function isHashes(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((hash) => typeof hash === 'string');
}

export async function keepTools(
  home: Home,
  key: string,
  record: PinRecord,
  listing: PinnedListing,
): Promise<void> {
  const known = await readDefinitions(home, key);
  const tools = withVersions(
    known.tools,
    listing.tools.map((tool) => [tool.name, tool] as const),
    record.held,
  );
  const current = listing.instructions ?? '';
  const pinnedText = known.instructions?.pinned;
  const instructions: Definitions['instructions'] =
    record.heldInstructions === undefined
      ? { pinned: current }
      : { ...(pinnedText === undefined ? {} : { pinned: pinnedText }), held: current };
  await writeDefinitions(home, key, { ...known, tools, instructions });
}

export async function keepParts(
  home: Home,
  key: string,
  record: PinRecord,
  kind: PinnedKind,
  items: readonly PinnedPart[],
): Promise<void> {
  const known = await readDefinitions(home, key);
  const parts = withVersions(
    known.parts?.[kind],
    items.map((part) => [part.id, stableDefinition(part)] as const),
    record.parts?.[kind]?.held,
  );
  await writeDefinitions(home, key, { ...known, parts: { ...known.parts, [kind]: parts } });
}

function withVersions<T>(
  known: Readonly<Record<string, Versions<T>>> | undefined,
  items: readonly (readonly [string, T])[],
  held: Readonly<Record<string, string>> | undefined,
): Record<string, Versions<T>> {
  const all: Record<string, Versions<T>> = Object.assign(Object.create(null), known);
  for (const [name, definition] of items) {
    const { pinned } = all[name] ?? {};
    all[name] =
      own(held, name) === undefined
        ? { pinned: definition }
        : { ...(pinned === undefined ? {} : { pinned }), held: definition };
  }
  return all;
}

type Hashes = Record<string, string>;

/** Copies without a prototype, because names come from the server. */
function copyOf(hashes: Readonly<Hashes> | undefined): Hashes {
  return Object.assign(Object.create(null), hashes);
}

function isEmpty(hashes: Readonly<Hashes>): boolean {
  return Object.keys(hashes).length === 0;
}

/** Merges a tool list. Fields that earlier versions did not pin are pinned at the next listing. */
export function mergedTools(
  before: PinRecord | undefined,
  server: string,
  mode: PinMode,
  listing: PinnedListing,
): PinRecord {
  const [tools, rests, held] = [copyOf(before?.tools), copyOf(before?.rests), copyOf({})];
  for (const tool of listing.tools) {
    const { name } = tool;
    const [now, rest] = [hashTool(tool), hashRest(tool)];
    const isNew = own(tools, name) === undefined;
    if (mode === 'warn' || before === undefined) {
      tools[name] = now;
      rests[name] = rest;
    } else if (isNew || tools[name] !== now || (own(rests, name) ?? rest) !== rest) {
      held[name] = heldHash(tool);
    } else rests[name] = rest;
  }
  const current = hashInstructions(listing.instructions);
  const instructions = mode === 'warn' ? current : (before?.instructions ?? current);
  const { name, version } = listing.identity ?? {};
  const identity = mode === 'warn' ? (name ?? before?.identity) : (before?.identity ?? name);
  const called = name ?? before?.heldIdentity;
  const newest = version ?? before?.version;
  const parts = before === undefined ? emptyParts(listing.offers) : before.parts;
  return sealed({
    server,
    tools,
    rests,
    instructions,
    ...defined({ identity, version: newest, parts }),
    ...(isEmpty(held) ? {} : { held }),
    ...(instructions === current ? {} : { heldInstructions: current }),
    ...(called === undefined || called === identity ? {} : { heldIdentity: called }),
  });
}

/** A list that a server did not offer at first is pinned as empty: later items in it are new. */
function emptyParts(offers: readonly string[] | undefined): PinRecord['parts'] {
  if (offers === undefined) return undefined;
  const none = { pinned: {} };
  return {
    ...(offers.includes('prompts') ? {} : { prompts: none }),
    ...(offers.includes('resources') ? {} : { resources: none, resourceTemplates: none }),
  };
}

/** Merges one of the other lists; returns the same record if nothing changed. */
export function mergedParts(
  before: PinRecord,
  kind: PinnedKind,
  mode: PinMode,
  items: readonly PinnedPart[],
): PinRecord {
  const known = before.parts?.[kind];
  const [pinned, held] = [copyOf(known?.pinned), copyOf({})];
  let isSame = known !== undefined;
  for (const part of items) {
    const now = hashPart(part);
    if (own(pinned, part.id) === now) continue;
    if (mode === 'warn' || known === undefined) {
      pinned[part.id] = now;
      isSame = false;
    } else {
      held[part.id] = now;
      isSame &&= own(known.held, part.id) === now;
    }
  }
  if (isSame && Object.keys(known?.held ?? {}).length === Object.keys(held).length) return before;
  const parts: PinnedParts = { pinned, ...(isEmpty(held) ? {} : { held }) };
  return { ...before, parts: { ...before.parts, [kind]: parts } };
}
