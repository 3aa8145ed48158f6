/**
 * Parses `pins.json` lazily. A start from the cache needs one seal for each server; the thousands of hashes behind the
 * seals stay text. On disk each server has its own line.
 */

import { isRecord } from '../lib/json.ts';
import type { PinRecord } from './pins.ts';

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
    let record = this.#records.get(key);
    if (record === undefined) {
      record = asRecord(JSON.parse(line.json));
      if (record === undefined) throw new Error(`the pins under ${key} are broken`);
      this.#records.set(key, record);
    }
    return record;
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
