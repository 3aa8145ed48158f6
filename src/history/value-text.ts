/** Writes a value of a call as JSON for the history: bounded, without media and without secrets. */

import { isSecretName } from '../config/secret-shapes.ts';
import { isRecord } from '../lib/json.ts';
import { REDACTED, type Redactor } from '../lib/redact.ts';

/** Longest JSON text of the arguments, and of the result or error, of one call. */
export const MAX_ARGUMENT_CHARS: number = 64 * 1024;
export const MAX_RESULT_CHARS: number = 256 * 1024;
/** Longest string within a value that is cut. */
const MAX_STRING_CHARS: number = 32 * 1024;
const MAX_DEPTH = 32;
/** Larger values are reported with this size: one that refers to itself has no end. */
const MAX_COUNTED_CHARS: number = 64 * 1024 * 1024;
/** Shorter data is kept: an icon says more than its size. */
const MAX_MEDIA_CHARS = 4_096;
/** Base64 has four characters for three bytes. */
const BYTES_PER_CHAR = 0.75;

/** Cheaper than a check of every member: most arguments have no such name. */
const MAYBE_SECRET = /key|token|secret|pass|pwd|pat|sig|auth|credential|cookie|bearer/i;

export interface ValueText {
  readonly text: string;
  /** Length of the JSON text before it was cut, if it was: approximate. */
  readonly cut?: number;
}

/** Known secrets are removed from the whole line later; here only from texts that are cut. */
type Redact = Pick<Redactor, 'redact'>;

/** Members with the name of a secret are hidden, whatever their value. */
export function argumentText(value: unknown, redactor: Redact): ValueText {
  const text = jsonOf(value);
  if (text.length <= MAX_ARGUMENT_CHARS && !MAYBE_SECRET.test(text)) return { text };
  return bounded(new BoundedCopy(MAX_ARGUMENT_CHARS, redactor, true), value);
}

/** The result of a tool, or an error. */
export function resultText(value: unknown, redactor: Redact): ValueText {
  if (isSmall(value)) return { text: jsonOf(value) };
  return bounded(new BoundedCopy(MAX_RESULT_CHARS, redactor, false), value);
}

/** Returns a copy whose strings and names have no secrets. */
export function redactedCopy(value: unknown, redactor: Redact): unknown {
  return new BoundedCopy(Number.POSITIVE_INFINITY, redactor, false, true).copy(value);
}

function bounded(writer: BoundedCopy, value: unknown): ValueText {
  const text = jsonOf(writer.copy(value));
  return writer.isCut
    ? { text, cut: Math.min(sizeOf(value, MAX_COUNTED_CHARS), MAX_COUNTED_CHARS) }
    : { text };
}

function jsonOf(value: unknown): string {
  // Undefined for a value that JSON has no text for; a call of the library may contain one, or a cycle.
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return 'null';
  }
}

/** Looks at the usual members of a result first: most results are one short text. */
export function isSmall(value: unknown): boolean {
  if (isRecord(value) && value['structuredContent'] === undefined && Array.isArray(value['content'])) {
    const [block, ...more] = value['content'] as readonly unknown[];
    if (more.length === 0 && isRecord(block) && typeof block['text'] === 'string')
      return block['text'].length <= MAX_MEDIA_CHARS;
  }
  return sizeOf(value, MAX_MEDIA_CHARS) <= MAX_MEDIA_CHARS;
}

/** Adds up the characters of a value; stops at the limit. */
function sizeOf(value: unknown, limit: number, depth = 0): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  if (depth > MAX_DEPTH) return Number.POSITIVE_INFINITY;
  let sum = 2;
  if (Array.isArray(value)) {
    for (const member of value) {
      sum += 1 + sizeOf(member, limit - sum, depth + 1);
      if (sum > limit) return sum;
    }
    return sum;
  }
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    sum += key.length + 4 + sizeOf((value as Record<string, unknown>)[key], limit - sum, depth + 1);
    if (sum > limit) return sum;
  }
  return sum;
}

/** Copies a value up to a number of characters. */
class BoundedCopy {
  isCut = false;
  #left: number;
  readonly #redactor: Redact;
  readonly #hidesNames: boolean;
  readonly #redactsAll: boolean;

  constructor(maxChars: number, redactor: Redact, hidesNames: boolean, redactsAll = false) {
    this.#left = maxChars;
    this.#redactor = redactor;
    this.#hidesNames = hidesNames;
    this.#redactsAll = redactsAll;
  }

  copy(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.#string(value);
    if (typeof value !== 'object' || value === null) {
      this.#left -= 8;
      return value;
    }
    if (depth > MAX_DEPTH) return this.#omitted();
    this.#left -= 2;
    if (Array.isArray(value)) return this.#list(value, depth);
    return isRecord(value) ? this.#record(value, depth) : null;
  }

  #list(value: readonly unknown[], depth: number): unknown[] {
    const copied: unknown[] = [];
    for (const member of value) {
      if (this.#left <= 0) {
        copied.push(this.#omitted(value.length - copied.length));
        break;
      }
      copied.push(this.copy(member, depth + 1));
    }
    return copied;
  }

  #record(value: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
    const copied: [string, unknown][] = [];
    for (const [key, member] of Object.entries(value)) {
      if (this.#left <= 0) {
        this.isCut = true;
        break;
      }
      this.#left -= key.length + 4;
      if (isMedia(key, member, value)) {
        this.isCut = true;
        copied.push(['omittedBytes', Math.floor(member.length * BYTES_PER_CHAR)]);
      } else if (this.#hidesNames && typeof member === 'string' && isHidden(key, member))
        copied.push([key, REDACTED]);
      else copied.push([this.#redactsAll ? this.#redactor.redact(key) : key, this.copy(member, depth + 1)]);
    }
    return Object.fromEntries(copied);
  }

  #string(value: string): string {
    const room = Math.max(0, Math.min(this.#left, MAX_STRING_CHARS));
    if (value.length <= room || this.#left === Number.POSITIVE_INFINITY) {
      this.#left -= value.length + 2;
      return this.#redactsAll ? this.#redactor.redact(value) : value;
    }
    this.isCut = true;
    this.#left -= room;
    // The cut may leave the beginning of a secret.
    return `${this.#redactor.redact(value.slice(0, room))}… [${value.length - room} characters cut]`;
  }

  #omitted(count?: number): string {
    this.isCut = true;
    return count === undefined ? '… [cut]' : `… [${count} items cut]`;
  }
}

/** True for the base64 data of images, audio and binary resources. */
function isMedia(key: string, member: unknown, block: Readonly<Record<string, unknown>>): member is string {
  if (typeof member !== 'string' || member.length <= MAX_MEDIA_CHARS) return false;
  return key === 'blob' || (key === 'data' && (block['type'] === 'image' || block['type'] === 'audio'));
}

/** A `key` alone is more often the key of an issue or a record. */
function isHidden(name: string, value: string): boolean {
  return value !== '' && name.toLowerCase() !== 'key' && isSecretName(name);
}
