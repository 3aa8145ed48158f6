/**
 * Parses and validates elicitation forms: flat, of the protocol's primitive types (CAL-3).
 *
 * A server's schema is parsed into fields that are safe to show. The person's answer is completed with the defaults and
 * validated against the same fields, so that a server gets only the values it asked for.
 */

import { isSecretName } from '../config/secret-shapes.ts';
import { isRecord } from '../lib/json.ts';
import { parsePattern, patternCost } from '../lib/pattern-cost.ts';
import { clean } from '../policy/clean.ts';

const MAX_FIELDS = 64;
const MAX_OPTIONS = 512;
const MAX_LABEL_CHARS = 500;
const MAX_DESCRIPTION_CHARS = 2_000;
const MAX_PATTERN_CHARS = 512;
/** Steps of matching one pattern, a few hundredths of a second; a more expensive match is left to the server. */
const MAX_PATTERN_STEPS = 1_000_000;
/** Longest text in an answer, regardless of the server's schema. */
const MAX_TEXT_CHARS = 100_000;

type JsonObject = Readonly<Record<string, unknown>>;

/** Returns the problem with a value; undefined if it is valid. */
type Check = (value: unknown) => string | undefined;

interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly fallback: unknown;
  readonly check: Check;
  /** The field for display, with every text of the server cleaned. */
  readonly shown: JsonObject;
}

export interface Form {
  /** The requested schema, safe to show. */
  readonly schema: JsonObject;
  /** A field is named or titled like a secret; the protocol forbids asking for secrets in a form. */
  readonly asksForSecret: boolean;
  /** Returns the answer for the server, or the problems with it. */
  complete(
    content: unknown,
  ): { readonly content: Record<string, unknown> } | { readonly problems: readonly string[] };
}

/** Parses a requested schema into a form, or returns one sentence on why it is refused. */
export function readForm(schema: unknown): Form | { readonly refused: string } {
  if (!isRecord(schema) || !isRecord(schema['properties'])) return { refused: 'it has no properties' };
  const names = Object.keys(schema['properties']);
  if (names.length > MAX_FIELDS) return { refused: `it has more than ${MAX_FIELDS} fields` };
  const { type, required = [] } = schema;
  if (type !== undefined && type !== 'object') return { refused: 'it is not of type object' };
  if (!isTexts(required)) return { refused: 'required is not a list of names' };
  const fields: Field[] = [];
  for (const name of names) {
    const field = readField(name, schema['properties'][name], required.includes(name));
    if (typeof field === 'string')
      return { refused: `the field ${JSON.stringify(name.slice(0, 100))} ${field}` };
    fields.push(field);
  }
  return {
    schema: {
      ...(typeof schema['$schema'] === 'string' && clean(schema['$schema']) === schema['$schema']
        ? { $schema: schema['$schema'] }
        : {}),
      type: 'object',
      properties: Object.fromEntries(fields.map(({ name, shown }) => [name, shown])),
      required: fields.filter((field) => field.required).map(({ name }) => name),
    },
    asksForSecret: fields.some(
      ({ name, shown }) => isSecretName(name) || isSecretName(String(shown['title'] ?? '')),
    ),
    complete: (content) => complete(fields, content),
  };
}

/** Returns the problem with the value of one field of `Form.schema`, for asking field by field. */
export function fieldFault(field: JsonObject, value: unknown): string | undefined {
  const kind = kindOf(field);
  return typeof kind === 'string' ? undefined : kind.check(value);
}

function complete(fields: readonly Field[], content: unknown): ReturnType<Form['complete']> {
  const given = isRecord(content) ? content : {};
  const problems: string[] = [];
  const answer: [string, unknown][] = [];
  for (const { name, required, fallback, check } of fields) {
    const value = (Object.hasOwn(given, name) ? given[name] : undefined) ?? fallback;
    if (value === undefined) {
      if (required) problems.push(`${name} is required`);
      continue;
    }
    const problem = check(value);
    if (problem === undefined) answer.push([name, value]);
    else problems.push(`${name} ${problem}`);
  }
  return problems.length > 0 ? { problems } : { content: Object.fromEntries(answer) };
}

/** Returns the field, or the reason why it is invalid. */
function readField(name: string, raw: unknown, required: boolean): Field | string {
  if (!isRecord(raw)) return 'is not described';
  const kind = kindOf(raw);
  if (typeof kind === 'string') return kind;
  const { title, description, default: given } = raw;
  if (!isTextOrNone(title)) return 'has a title that is not a text';
  if (!isTextOrNone(description)) return 'has a description that is not a text';
  // A default that violates the server's own schema is ignored.
  const fallback =
    given !== undefined && given !== null && kind.check(given) === undefined && !isSly(given, kind)
      ? given
      : undefined;
  return {
    name,
    required,
    fallback,
    check: kind.check,
    shown: {
      ...kind.shown,
      ...titleOf(title, name),
      ...(typeof description === 'string'
        ? { description: clean(description, { max: MAX_DESCRIPTION_CHARS }) }
        : {}),
      ...(fallback === undefined ? {} : { default: fallback }),
    },
  };
}

/**
 * True for a default with hidden text. A default is shown as if the person had typed it, so it must be fully visible.
 */
function isSly(given: unknown, { shown }: Kind): boolean {
  return typeof given === 'string' && shown['format'] === undefined && clean(given) !== given;
}

/** Names are kept as the server sent them; a name with hidden text gets a cleaned title. */
function titleOf(title: unknown, name: string): { title?: string } {
  if (typeof title === 'string') return { title: label(title) };
  return clean(name) === name ? {} : { title: label(name) };
}

interface Kind {
  readonly check: Check;
  readonly shown: JsonObject;
}

function kindOf(raw: JsonObject): Kind | string {
  switch (raw['type']) {
    case 'string':
      return raw['enum'] === undefined && raw['oneOf'] === undefined ? text(raw) : choice(raw);
    case 'number':
    case 'integer':
      return number(raw, raw['type']);
    case 'boolean':
      return {
        check: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
        shown: { type: 'boolean' },
      };
    case 'array':
      return choices(raw);
    default:
      return 'is not of a type that a form can have';
  }
}

const FORMATS: Readonly<
  Record<string, { readonly matches: (text: string) => boolean; readonly words: string }>
> = {
  email: { matches: (value) => /^[^\s@]{1,64}@[^\s@]{1,255}$/.test(value), words: 'an e-mail address' },
  uri: { matches: (value) => URL.canParse(value), words: 'a URI' },
  date: { matches: isDate, words: 'a date like 2026-01-31' },
  'date-time': { matches: isDateTime, words: 'a time like 2026-01-31T09:00:00Z' },
};

function text(raw: JsonObject): Kind {
  const min = count(raw['minLength']) ?? 0;
  const max = Math.min(count(raw['maxLength']) ?? MAX_TEXT_CHARS, MAX_TEXT_CHARS);
  const format = typeof raw['format'] === 'string' ? raw['format'] : undefined;
  const rule = format === undefined ? undefined : FORMATS[format];
  const pattern = readPattern(raw['pattern']);
  return {
    check(value) {
      if (typeof value !== 'string') return 'must be a text';
      // The protocol counts characters, not UTF-16 code units.
      const length = [...value.slice(0, 2 * max + 1)].length;
      if (length < min) return `must have at least ${min} characters`;
      if (length > max) return `must have at most ${max} characters`;
      if (rule !== undefined && !rule.matches(value)) return `must be ${rule.words}`;
      return pattern?.check(value);
    },
    shown: {
      type: 'string',
      ...(min > 0 ? { minLength: min } : {}),
      ...(raw['maxLength'] === undefined ? {} : { maxLength: max }),
      ...(rule === undefined ? {} : { format }),
      ...(pattern === undefined ? {} : { pattern: pattern.source }),
    },
  };
}

/** A JSON Schema pattern. An invalid one, or one with hidden text, is ignored. */
function readPattern(source: unknown): { readonly source: string; readonly check: Check } | undefined {
  if (typeof source !== 'string' || source.length > MAX_PATTERN_CHARS || clean(source) !== source)
    return undefined;
  const pattern = parsePattern(source);
  if (pattern === undefined) return undefined;
  // The server validates as well, so an expensive match is left to it.
  const cost = patternCost(source);
  return {
    source,
    check: (value) =>
      typeof value !== 'string' ||
      cost === undefined ||
      cost.steps(value.length) > MAX_PATTERN_STEPS ||
      pattern.test(value)
        ? undefined
        : `must match ${source}`,
  };
}

function number(raw: JsonObject, type: 'number' | 'integer'): Kind {
  const min = finite(raw['minimum']);
  const max = finite(raw['maximum']);
  return {
    check(value) {
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
      if (type === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
      if (min !== undefined && value < min) return `must be at least ${min}`;
      return max !== undefined && value > max ? `must be at most ${max}` : undefined;
    },
    shown: {
      type,
      ...(min === undefined ? {} : { minimum: min }),
      ...(max === undefined ? {} : { maximum: max }),
    },
  };
}

/** A single choice, with or without titles; `enumNames` is the older form of titles. */
function choice(raw: JsonObject): Kind | string {
  const options = readOptions(raw['enum'], raw['oneOf'], raw['enumNames']);
  if (typeof options === 'string') return options;
  const values = new Set(options.map((option) => option.const));
  const words = shownValues(values);
  return {
    check: (value) =>
      typeof value === 'string' && values.has(value) ? undefined : `must be one of ${words}`,
    shown: { type: 'string', ...shownChoice(raw, options, [...values]) },
  };
}

/** Keeps the server's form: clients that support only the older one show no titles for the newer one. */
function shownChoice(raw: JsonObject, options: readonly Option[], values: readonly string[]): JsonObject {
  if (!isTitled(options)) return { enum: values };
  if (Array.isArray(raw['oneOf'])) return { oneOf: options };
  return {
    enum: options.map((option) => option.const),
    enumNames: options.map((option) => option.title ?? option.const),
  };
}

function choices(raw: JsonObject): Kind | string {
  const items = isRecord(raw['items']) ? raw['items'] : {};
  const options = readOptions(items['enum'], items['anyOf'] ?? items['oneOf'], undefined);
  if (typeof options === 'string') return options;
  const values = new Set(options.map((option) => option.const));
  const words = shownValues(values);
  const min = count(raw['minItems']) ?? 0;
  const max = Math.min(count(raw['maxItems']) ?? values.size, values.size);
  return {
    check(value) {
      if (!Array.isArray(value)) return 'must be a list';
      if (!value.every((one) => typeof one === 'string' && values.has(one))) {
        return `must hold only ${words}`;
      }
      if (new Set(value).size < value.length) return 'must not hold anything twice';
      if (value.length < min) return `must hold at least ${min}`;
      return value.length > max ? `must hold at most ${max}` : undefined;
    },
    shown: {
      type: 'array',
      ...(min > 0 ? { minItems: min } : {}),
      ...(raw['maxItems'] === undefined ? {} : { maxItems: max }),
      items: isTitled(options) ? { anyOf: options } : { type: 'string', enum: [...values] },
    },
  };
}

interface Option {
  readonly const: string;
  readonly title?: string;
}

function readOptions(plain: unknown, titled: unknown, names: unknown): readonly Option[] | string {
  const list = Array.isArray(titled) ? titled : plain;
  if (names !== undefined && names !== null && !isTexts(names))
    return 'has names of options that are not texts';
  if (!Array.isArray(list) || list.length === 0) return 'has nothing to choose from';
  if (list.length > MAX_OPTIONS) return `has more than ${MAX_OPTIONS} options`;
  const options: Option[] = [];
  for (const [at, one] of list.entries()) {
    const value = isRecord(one) ? one['const'] : one;
    const name = isRecord(one) ? one['title'] : Array.isArray(names) ? names[at] : undefined;
    if (typeof value !== 'string') return 'has options that are not texts';
    if (!isTextOrNone(name)) return 'has an option whose title is not a text';
    options.push({ const: value, ...titleOf(name, value) });
  }
  return options;
}

function isTitled(options: readonly Option[]): boolean {
  return options.some(({ title }) => title !== undefined);
}

function shownValues(values: ReadonlySet<string>): string {
  const shown = [...values].slice(0, 12).map((value) => JSON.stringify(value));
  return values.size > shown.length ? `${shown.join(', ')}, …` : shown.join(', ');
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function label(value: string): string {
  return clean(value, { multiline: false, max: MAX_LABEL_CHARS });
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function isDate(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const time = new Date(`${value}T00:00:00Z`);
  // `Date` turns the 31st of February into a day in March.
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value);
}

function isDateTime(value: string): boolean {
  const match = /^(\d{4}-\d\d-\d\d)[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/.exec(value);
  return match?.[1] !== undefined && isDate(match[1]) && !Number.isNaN(Date.parse(value.toUpperCase()));
}
