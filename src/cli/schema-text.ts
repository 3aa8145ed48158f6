/** Describes a tool's arguments from its JSON Schema: types, choices, defaults and limits. */

import { propertiesOf, requiredOf, resolvedSchema, type Schema } from '../catalog/schemas/object-members.ts';
import { isRecord } from '../lib/json.ts';
import { clean, oneLine } from '../policy/clean.ts';

/** One argument, or one member of an argument that is an object. */
export interface ArgumentText {
  readonly name: string;
  /** Type or choices, whether it is required, its default and limits: `integer, default 10, 1 or more`. */
  readonly about: string;
  readonly description: string;
  readonly members: readonly ArgumentText[];
}

/** Maximum depth of members shown; `--json` has the whole schema. */
const MAX_DEPTH = 3;
const MAX_CHOICES = 20;
const MAX_VALUE_CHARS = 80;

/** Describes an object's members, in the order of its schema. */
export function argumentTexts(schema: Schema, root: Schema = schema, depth = 0): readonly ArgumentText[] {
  if (depth === MAX_DEPTH) return [];
  const required = requiredOf(schema, root);
  return Object.entries(propertiesOf(schema, root)).map(([name, property]): ArgumentText => {
    const own = resolvedSchema(property, root);
    const facts = [
      typeText(own, root),
      ...(required.has(name) ? ['required'] : []),
      ...(own['default'] === undefined ? [] : [`default ${valueText(own['default'])}`]),
      ...limits(own),
      ...(own['deprecated'] === true ? ['deprecated'] : []),
    ];
    return {
      name: oneLine(name),
      about: facts.filter((fact) => fact !== '').join(', '),
      description: typeof own['description'] === 'string' ? oneLine(own['description']) : '',
      members: argumentTexts(memberSchema(own, root), root, depth + 1),
    };
  });
}

/** Returns `path [limit]`: the argument names, optional ones in brackets. */
export function argumentNames(schema: Schema): string {
  const required = requiredOf(schema, schema);
  return Object.keys(propertiesOf(schema, schema))
    .map((name) => oneLine(required.has(name) ? name : `[${name}]`))
    .join(' ');
}

/** Returns the object whose members are shown for an argument: itself, or the items of its list. */
function memberSchema(schema: Schema, root: Schema): Schema {
  return schema['items'] === undefined ? schema : resolvedSchema(schema['items'], root);
}

/** `string`, `integer[]`, `"a" | "b"`, `string | null`; empty if anything is accepted. */
function typeText(schema: Schema, root: Schema, depth = 0): string {
  if (depth > MAX_DEPTH) return '…';
  if ('const' in schema) return valueText(schema['const']);
  const { enum: values, type, anyOf, oneOf, items, format } = schema;
  if (Array.isArray(values)) return choices(values.map(valueText));
  const branches = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (branches !== undefined && type === undefined) {
    const each = branches.map((branch) => typeText(resolvedSchema(branch, root), root, depth + 1));
    return choices([...new Set(each.map((text) => (text === '' ? 'any' : text)))]);
  }
  const types = (Array.isArray(type) ? type : [type]).filter((each) => typeof each === 'string');
  if (types.length === 0) return isRecord(schema['properties']) ? 'object' : '';
  const texts = types.map((each) => (each === 'array' ? listText(items, root, depth) : oneLine(each)));
  return typeof format === 'string' ? `${texts.join(' | ')} (${oneLine(format)})` : texts.join(' | ');
}

function listText(items: unknown, root: Schema, depth: number): string {
  const text = typeText(resolvedSchema(items, root), root, depth + 1);
  if (text === '') return 'array';
  return text.includes(' ') ? `(${text})[]` : `${text}[]`;
}

function choices(texts: readonly string[]): string {
  const more = texts.length - MAX_CHOICES;
  return [...texts.slice(0, MAX_CHOICES), ...(more > 0 ? [`… ${more} more`] : [])].join(' | ');
}

function limits(schema: Schema): string[] {
  const number = (key: string): number | undefined => {
    const value = schema[key];
    return typeof value === 'number' ? value : undefined;
  };
  const range = (low: string, high: string, unit: string): string[] => {
    const [least, most] = [number(low), number(high)];
    if (least === undefined && most === undefined) return [];
    if (most === undefined) return [`${least}${unit} or more`];
    return [least === undefined ? `${most}${unit} or less` : `${least} to ${most}${unit}`];
  };
  const above = number('exclusiveMinimum');
  const below = number('exclusiveMaximum');
  return [
    ...range('minimum', 'maximum', ''),
    ...(above === undefined ? [] : [`more than ${above}`]),
    ...(below === undefined ? [] : [`less than ${below}`]),
    ...range('minLength', 'maxLength', ' characters'),
    ...range('minItems', 'maxItems', ' items'),
    ...(typeof schema['pattern'] === 'string' ? [`matches ${oneLine(schema['pattern'])}`] : []),
  ];
}

function valueText(value: unknown): string {
  return clean(JSON.stringify(value) ?? '', { multiline: false, max: MAX_VALUE_CHARS });
}
