/** Translates one entry of another agent: the supported keys, and the lost ones with the reason. */

import { isRecord, type JsonObject, own } from '../../lib/json.ts';
import { type Dialect, translate } from './reference-dialect.ts';

export interface Lost {
  /** The original key, with the path inside it: `env.TOKEN`. */
  readonly key: string;
  readonly reason: string;
}

export interface Translated {
  /** An entry for `mcpServers`; validated when it is written. */
  readonly entry: JsonObject;
  readonly lost: readonly Lost[];
  /** Why the entry cannot be used at all. */
  readonly refused?: string;
}

const NOTHING_LIKE_IT = 'Plugboard has nothing like it.';

/**
 * Translates keys one by one; keys that are never read are reported as lost. Values of the wrong kind are passed on
 * unchanged: the validation of the finished entry reports them.
 */
export class Translation {
  readonly entry: Record<string, unknown> = {};
  readonly lost: Lost[] = [];
  readonly #raw: JsonObject;
  readonly #dialect: Dialect;
  readonly #left: Set<string>;
  #refused: string | undefined;

  constructor(raw: JsonObject, dialect: Dialect) {
    this.#raw = raw;
    this.#dialect = dialect;
    this.#left = new Set(Object.keys(raw));
  }

  /**
   * Translates a string with references. Refuses the entry if a reference is unsupported, because the server would be a
   * different one.
   */
  text(from: string, to: string = from): this {
    const value = this.#take(from);
    if (value !== undefined)
      this.entry[to] = typeof value === 'string' ? this.#translate(value, from) : value;
    return this;
  }

  /** Translates a list of strings with references. */
  texts(from: string, to: string = from): this {
    const value = this.#take(from);
    if (value === undefined) return this;
    this.entry[to] = Array.isArray(value)
      ? value.map((item, at) => (typeof item === 'string' ? this.#translate(item, `${from}[${at}]`) : item))
      : value;
    return this;
  }

  /** Translates strings by name, as in `env`; an unsupported one is omitted alone. */
  pairs(from: string, to: string = from): this {
    const value = this.#takeRecord(from, to);
    if (value === undefined) return this;
    const pairs: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      if (member === null) continue;
      const translated =
        typeof member === 'string' ? translate(member, this.#dialect) : { text: scalar(member) };
      if ('text' in translated) pairs[name] = translated.text;
      else this.lose(`${from}.${name}`, unsupported(translated.unsupported));
    }
    if (Object.keys(pairs).length > 0) this.entry[to] = pairs;
    return this;
  }

  /** Translates the keys of a program that most agents share. */
  program(): this {
    return this.text('command').texts('args').pairs('env');
  }

  /** Copies a value without references, optionally changed; undefined is skipped. */
  value(from: string, to: string = from, change: (value: unknown) => unknown = (value) => value): this {
    const value = this.#take(from);
    const changed = value === undefined ? undefined : change(value);
    if (changed !== undefined) this.entry[to] = changed;
    return this;
  }

  /** Converts seconds to milliseconds. */
  seconds(from: string, to: string): this {
    return this.value(from, to, (value) =>
      typeof value === 'number' ? Math.max(1, Math.round(value * 1000)) : value,
    );
  }

  /** Inverts a flag such as `disabled`. */
  switchedOff(from: string): this {
    return this.value(from, 'enabled', (value) => (value === true ? false : undefined));
  }

  /** Translates a list of tools that need no approval. */
  allowed(from: string): this {
    const value = this.#take(from);
    if (!Array.isArray(value) || value.length === 0) return this;
    const names = value.filter((name) => typeof name === 'string');
    this.entry['tools'] = Object.fromEntries(names.map((name) => [name, { approval: 'approve' }]));
    return this;
  }

  /** Translates a nested object. */
  inside(from: string, to: string, work: (inner: Translation) => void): this {
    const value = this.#takeRecord(from, to);
    if (value === undefined) return this;
    const inner = new Translation(value, this.#dialect);
    work(inner);
    const { entry, lost, refused } = inner.done();
    this.lost.push(...lost.map(({ key, reason }) => ({ key: `${from}.${key}`, reason })));
    this.#refused ??= refused;
    if (Object.keys(entry).length > 0) this.entry[to] = entry;
    return this;
  }

  /** Reports a known key that we do not support as lost. */
  without(key: string, reason: string = NOTHING_LIKE_IT): this {
    const value = this.#take(key);
    if (value !== undefined && !isNothing(value)) this.lose(key, reason);
    return this;
  }

  /** Skips keys that matter only to their own agent: nothing is lost. */
  ignoring(...keys: readonly string[]): this {
    for (const key of keys) this.#take(key);
    return this;
  }

  lose(key: string, reason: string): this {
    this.lost.push({ key, reason });
    return this;
  }

  refuse(reason: string): this {
    this.#refused ??= reason;
    return this;
  }

  done(): Translated {
    for (const key of this.#left) {
      if (!isNothing(this.#raw[key])) this.lose(key, NOTHING_LIKE_IT);
    }
    this.#left.clear();
    const { entry, lost } = this;
    return { entry, lost, ...(this.#refused === undefined ? {} : { refused: this.#refused }) };
  }

  #take(key: string): unknown {
    this.#left.delete(key);
    return own(this.#raw, key);
  }

  /** Another value than an object is copied as it is: the check of the entry reports it. */
  #takeRecord(from: string, to: string): JsonObject | undefined {
    const value = this.#take(from);
    if (isRecord(value)) return value;
    if (value !== undefined) this.entry[to] = value;
    return undefined;
  }

  #translate(text: string, key: string): string {
    const translated = translate(text, this.#dialect);
    if ('text' in translated) return translated.text;
    this.refuse(`Its "${key}" ${unsupported(translated.unsupported)}`);
    return text;
  }
}

/** Converts scopes to a list: other agents use one string. */
export function scopeList(value: unknown): unknown {
  return typeof value === 'string' ? value.split(/[\s,]+/).filter((word) => word !== '') : value;
}

function unsupported(reference: string): string {
  return `uses ${reference}, which Plugboard does not support.`;
}

function scalar(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** True if omitting the value changes nothing. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
