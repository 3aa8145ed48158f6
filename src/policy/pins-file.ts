/** `pins.json`, and beside it what the hashes stand for, so that a change can be shown. */

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Home } from '../config/home.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { replaceFile, updateFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import type { PinnedTool, PinRecord } from './pins.ts';

/** Raised when hashes are made differently. */
const FORMAT = 1;
const MAX_DEFINITIONS_BYTES: number = 64 * 1024 * 1024;

export type PinRecords = Readonly<Record<string, PinRecord>>;

/** What the hashes of one server stand for. */
export interface Definitions {
  readonly tools: Readonly<Record<string, { readonly pinned?: PinnedTool; readonly held?: PinnedTool }>>;
  readonly instructions?: { readonly pinned?: string; readonly held?: string };
}

/** Undefined: the file is there and cannot be understood, so nothing is known of what was pinned. */
export async function readPins(home: Home): Promise<PinRecords | undefined> {
  // Ours alone, and large: no need to look for comments and places as in files that people write.
  try {
    const text = await readFile(home.pins, 'utf8');
    return text.trim() === '' ? {} : recordsIn(JSON.parse(text));
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? {} : undefined;
  }
}

/** Changes the file under its lock; the change is decided on what it says then. */
export async function updatePins(
  home: Home,
  change: (records: PinRecords) => PinRecords,
): Promise<PinRecords> {
  let after: PinRecords = {};
  await makeFolder(home.dir, 0o700);
  await updateFile(
    home.pins,
    (text) => {
      const records = text === undefined || text.trim() === '' ? {} : recordsIn(JSON.parse(text));
      if (records === undefined) throw new Error('it is not a file of pins');
      after = change(records);
      return after === records ? undefined : `${JSON.stringify({ version: FORMAT, servers: after })}\n`;
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
    // Written by us, and only ever shown: what is not there is said to be unknown.
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

function recordsIn(value: unknown): PinRecords | undefined {
  if (!isRecord(value) || value['version'] !== FORMAT || !isRecord(value['servers'])) return undefined;
  const records: Record<string, PinRecord> = Object.create(null);
  for (const [key, record] of Object.entries(value['servers'])) {
    if (
      !isRecord(record) ||
      typeof record['server'] !== 'string' ||
      typeof record['seal'] !== 'string' ||
      !isHashes(record['tools'])
    )
      return undefined;
    if (record['held'] !== undefined && !isHashes(record['held'])) return undefined;
    records[key] = record as unknown as PinRecord; // looked at above; the rest is compared, never run
  }
  return records;
}

function isHashes(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((hash) => typeof hash === 'string');
}
