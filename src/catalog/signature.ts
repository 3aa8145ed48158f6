/**
 * Writes a tool for a model in a few words: its arguments as a TypeScript-like signature, and the first sentence of its
 * description (CAT-12). Adapters use it in browsers: no modules of Node here.
 */

import { isRecord } from '../lib/json.ts';
import { propertiesOf, requiredOf, resolvedSchema, type Schema } from './schemas/object-members.ts';
import type { Tool } from './tool.ts';

/** How much of a schema is written; the first level whose text is short enough is used. */
interface Detail {
  /** Levels of objects whose members are written. */
  readonly depth: number;
  /** Values of an enumeration, and branches of a union. */
  readonly choices: number;
  /** Optional arguments; further ones become `…`. */
  readonly optional: number;
}

const DETAILS: readonly Detail[] = [
  { depth: 4, choices: 16, optional: 24 },
  { depth: 3, choices: 8, optional: 16 },
  { depth: 2, choices: 4, optional: 8 },
  { depth: 1, choices: 3, optional: 8 },
  { depth: 0, choices: 2, optional: 2 },
];
const SHORTEST: Detail = { depth: 0, choices: 0, optional: 0 };
/** Limit on nesting of any kind, and on schemas that are read at one level of detail. */
const MAX_DEPTH = 8;
const MAX_NODES = 2_000;
/** Length of a signature that needs no less detail. */
const WANTED_CHARS = 240;
/** Limit on a signature: a server can require any number of names. */
const MAX_CHARS = 4_000;
const MAX_SENTENCE_CHARS = 140;
const MAX_VALUE_CHARS = 40;
const IDENTIFIER = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
/** A period that ends no sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|incl|no|fig|\p{L})$/iu;

type Summarized = Pick<Tool, 'name' | 'description' | 'inputSchema'>;

/**
 * Returns a tool as one line.
 *
 * @example
 * summaryOf({ name: 'files__read', description: 'Reads a file. Slowly.', inputSchema });
 * // 'files__read(path: string, limit?: integer): Reads a file.'
 */
export function summaryOf({ name, description, inputSchema }: Summarized, mark = ''): string {
  const sentence = firstSentence(description);
  return `${name}${signatureOf(inputSchema)}${mark}${sentence === '' ? '' : `: ${sentence}`}`;
}

const SUMMARY = /^([\w-]+)\(/;

/** Returns the name of the tool that a line of `summaryOf` is about; undefined for other lines. */
export function summarizedName(line: string): string | undefined {
  return SUMMARY.exec(line)?.[1];
}

/**
 * Returns the arguments of a tool as a signature: required ones first, each of them always, then optional ones.
 *
 * @example signatureOf({ properties: { path: { type: 'string' }, limit: { type: 'integer' } }, required: ['path'] })
 * // '(path: string, limit?: integer)'
 */
export function signatureOf(schema: Schema): string {
  let text = '';
  for (const detail of [...DETAILS, SHORTEST]) {
    text = `(${new Writer(schema, detail).members(schema, 0)})`;
    if (text.length <= WANTED_CHARS) return text;
  }
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…)`;
}

/** Returns the type of values that match a schema, as `string[]` or `{a: string, b?: 'x' | 'y'}`. */
export function typeText(schema: Schema, root: Schema = schema): string {
  const [detail = SHORTEST] = DETAILS;
  return new Writer(root, detail).type(schema, 0);
}

/** Returns the first sentence of a text in one line, shortened if it is long. */
export function firstSentence(text: string): string {
  const [paragraph = ''] = text
    .trim()
    .split(/\n\s*\n|\n\s*(?=[-*#<])/)
    .filter((part) => /[\p{L}\p{N}]/u.test(part));
  const line = paragraph.replace(/\s+/g, ' ').replace(/^#+ /, '').trim();
  const ends = line.matchAll(/[.!?](?=\s|$)|[。！？]/gu);
  for (const { index, 0: mark } of ends) {
    const before = line.slice(0, index);
    if (mark === '.' && ABBREVIATION.test(before)) continue;
    return shortened(line.slice(0, index + mark.length), MAX_SENTENCE_CHARS);
  }
  return shortened(line, MAX_SENTENCE_CHARS);
}

/** Writes one schema at one level of detail; bounded, because references can multiply. */
class Writer {
  readonly #root: Schema;
  readonly #detail: Detail;
  #left = MAX_NODES;

  constructor(root: Schema, detail: Detail) {
    this.#root = root;
    this.#detail = detail;
  }

  members(schema: Schema, depth: number): string {
    const required = requiredOf(schema, this.#root);
    const properties = propertiesOf(schema, this.#root);
    const names = Object.keys(properties);
    // A name may be required without being declared.
    const needed = new Set([...names.filter((name) => required.has(name)), ...required]);
    const optional = names.filter((name) => !required.has(name));
    const { optional: most } = this.#detail;
    const room = depth === 0 ? most : Math.ceil(most / 2);
    const shown = [...needed, ...optional.slice(0, room)].map((name) => {
      const own = this.#resolved(Object.hasOwn(properties, name) ? properties[name] : {});
      // Servers fill in a default, so the name may be omitted.
      const isOptional = !required.has(name) || Object.hasOwn(own, 'default');
      const type = this.type(own, depth + 1);
      return `${nameText(name)}${isOptional ? '?' : ''}: ${isOptional ? withoutNull(type) : type}`;
    });
    return [...shown, ...(optional.length > room ? ['…'] : [])].join(', ');
  }

  type(schema: Schema, depth: number): string {
    this.#left -= 1;
    if (this.#left < 0 || depth > MAX_DEPTH) return 'any';
    if (Object.hasOwn(schema, 'const')) return literal(schema['const']);
    const { enum: values, type, anyOf, oneOf } = schema;
    if (Array.isArray(values)) return this.#choices(values);
    const branches = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
    if (branches !== undefined && !isRecord(schema['properties'])) return this.#branches(branches, depth);
    const types = (Array.isArray(type) ? type : [type]).filter((each) => typeof each === 'string');
    const texts = (types.length > 0 ? types : inferred(schema)).map((each) => {
      if (each === 'array') return this.#list(schema, depth);
      return each === 'object' ? this.#object(schema, depth) : word(each);
    });
    return texts.length === 0 ? 'any' : texts.join(' | ');
  }

  #resolved(schema: unknown): Schema {
    return resolvedSchema(schema, this.#root);
  }

  #branches(branches: readonly unknown[], depth: number): string {
    const room = Math.max(this.#detail.choices, 1);
    const texts = branches.slice(0, room + 1).map((branch) => this.type(this.#resolved(branch), depth + 1));
    return union([...new Set(texts)], room);
  }

  #list(schema: Schema, depth: number): string {
    const { items, prefixItems } = schema;
    const { choices, depth: deepest } = this.#detail;
    if (Array.isArray(prefixItems) && prefixItems.length <= choices)
      return `[${prefixItems.map((item) => this.type(this.#resolved(item), depth + 1)).join(', ')}]`;
    if (depth > deepest) return 'any[]';
    const item = this.type(this.#resolved(items), depth + 1);
    return /^\w+(\[\])*$|^\{[^|]*\}$/.test(item) ? `${item}[]` : `(${item})[]`;
  }

  #object(schema: Schema, depth: number): string {
    if (depth > this.#detail.depth) return 'object';
    const members = this.members(schema, depth);
    if (members !== '') return `{${members}}`;
    const { additionalProperties } = schema;
    if (!isRecord(additionalProperties)) return 'object';
    return `Record<string, ${this.type(this.#resolved(additionalProperties), depth + 1)}>`;
  }

  #choices(values: readonly unknown[]): string {
    const { choices } = this.#detail;
    if (values.length === 0) return 'any';
    if (choices > 0) return union(values.slice(0, choices + 1).map(literal), choices);
    // The type alone is shorter than a list of which most values are missing.
    return [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))].join(' | ');
  }
}

function inferred(schema: Schema): readonly string[] {
  const { properties, additionalProperties, allOf, items, prefixItems } = schema;
  if (isRecord(properties) || isRecord(additionalProperties) || Array.isArray(allOf)) return ['object'];
  return items !== undefined || Array.isArray(prefixItems) ? ['array'] : [];
}

function union(texts: readonly string[], room: number): string {
  return texts.length > room ? `${texts.slice(0, room).join(' | ')} | …` : texts.join(' | ');
}

/** An optional argument is omitted instead of being null. */
function withoutNull(type: string): string {
  return type.endsWith(' | null') && !type.includes('{') ? type.slice(0, -' | null'.length) : type;
}

function nameText(name: string): string {
  return IDENTIFIER.test(name) ? name : quoted(name);
}

function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(shortened(value, MAX_VALUE_CHARS));
  return shortened(JSON.stringify(value) ?? 'any', MAX_VALUE_CHARS);
}

/** In single quotes, as literals of TypeScript; in one line. */
function quoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner}'`;
}

/** A type is data of the server. */
function word(type: string): string {
  return /^\w{1,20}$/.test(type) ? type : 'any';
}

function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = (text.charCodeAt(max - 2) & 0xfc00) === 0xd800 ? max - 2 : max - 1;
  return `${text.slice(0, end).trimEnd()}…`;
}
