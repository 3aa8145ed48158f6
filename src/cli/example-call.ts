/** Builds an example call that can be pasted into a shell: required arguments, with values that match the schema. */

import { propertiesOf, requiredOf, resolvedSchema, type Schema } from '../catalog/schemas/object-members.ts';
import type { Tool } from '../catalog/tool.ts';
import { joinArgv } from '../lib/argv.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { hidesText } from '../policy/clean.ts';

/** Maximum nesting of objects and lists in the example. */
const MAX_DEPTH = 6;
/** Maximum number of list items, even if the schema requires more. */
const MAX_ITEMS = 20;
const MAX_TEXT_CHARS = 200;
/** Keys that `key=value` can express. */
const PLAIN_KEY = /^[A-Za-z_][\w.-]*$/;

/** Undefined if a name or value cannot be written so that a shell reads it as shown. */
export function exampleCall({ server, tool, inputSchema }: Tool): string | undefined {
  const example = Object.entries(objectOf(inputSchema, { name: '', tool, root: inputSchema, depth: 0 }));
  const isPlain = example.every(([key]) => PLAIN_KEY.test(key));
  // `call` only looks at these when it converts a value.
  const properties = isRecord(inputSchema['properties']) ? inputSchema['properties'] : {};
  const given = isPlain
    ? example.map(([key, value]) => wordOf(key, value, properties[key]))
    : [JSON.stringify(Object.fromEntries(example))];
  // A tool name that starts with a dash would be parsed as a flag.
  const target = tool.startsWith('-') ? [`${server}.${tool}`] : [server, tool];
  const words = ['plugboard', 'call', ...target, ...given];
  return words.some((word) => hidesText(word) || /[\n\r]/.test(word)) ? undefined : joinArgv(words);
}

/** Formats an argument as `call` parses it: text and plain numbers unchanged, everything else as JSON. */
function wordOf(key: string, value: unknown, property: unknown): string {
  const type = isRecord(property) ? property['type'] : undefined;
  const isText = typeof value === 'string' && (type === undefined || type === 'string');
  if (isText && !value.startsWith('@')) return `${key}=${value}`;
  const isNumber = typeof value === 'number' && (type === 'number' || type === 'integer');
  const isSwitch = typeof value === 'boolean' && type === 'boolean';
  return isNumber || isSwitch ? `${key}=${value}` : `${key}:=${JSON.stringify(value)}`;
}

function objectOf(schema: Schema, place: Place): JsonObject {
  const { root } = place;
  const properties = propertiesOf(schema, root);
  const needed = new Set([...requiredOf(schema, root), ...requiredByFirstBranch(schema, root)]);
  const members = [...needed].map((name): [string, unknown] => [
    name,
    exampleOf(properties[name], { ...place, name, depth: place.depth + 1 }),
  ]);
  return Object.fromEntries(members);
}

/** If one of several alternatives is required, the first is used. */
function requiredByFirstBranch(schema: Schema, root: Schema): readonly string[] {
  const { anyOf, oneOf } = schema;
  const [first] = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  return first === undefined ? [] : [...requiredOf(resolvedSchema(first, root), root)];
}

interface Place {
  readonly name: string;
  /** The called tool: for some tools a path is that of a folder. */
  readonly tool: string;
  readonly root: Schema;
  readonly depth: number;
}

function exampleOf(property: unknown, place: Place): unknown {
  const schema = resolvedSchema(property, place.root);
  const { examples, anyOf, oneOf, type } = schema;
  for (const key of ['const', 'default'] as const) if (key in schema) return schema[key];
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0) return schema['enum'][0];
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (place.depth > MAX_DEPTH) return null;
  const branches = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (type === undefined && branches !== undefined) {
    const branch = branches.find((each) => resolvedSchema(each, place.root)['type'] !== 'null');
    return exampleOf(branch ?? branches[0], { ...place, depth: place.depth + 1 });
  }
  const [first] = (Array.isArray(type) ? type : [type]).filter((each) => each !== 'null');
  switch (first ?? (isRecord(schema['properties']) ? 'object' : 'string')) {
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return true;
    case 'array':
      return listOf(schema, place);
    case 'object':
      return objectOf(schema, place);
    default:
      return textOf(schema, place);
  }
}

function listOf(schema: Schema, place: Place): readonly unknown[] {
  const { minItems, maxItems, items } = schema;
  if (maxItems === 0) return [];
  const count = typeof minItems === 'number' ? Math.min(Math.max(minItems, 1), MAX_ITEMS) : 1;
  const inner = { ...place, depth: place.depth + 1 };
  return Array.from({ length: count }, () => exampleOf(items, inner));
}

function numberOf(schema: Schema): number {
  const number = (key: string): number | undefined => {
    const value = schema[key];
    return typeof value === 'number' ? value : undefined;
  };
  const above = number('exclusiveMinimum');
  const below = number('exclusiveMaximum');
  const least = number('minimum') ?? (above === undefined ? undefined : above + 1);
  const most = number('maximum') ?? (below === undefined ? undefined : below - 1);
  const step = number('multipleOf');
  const near = Math.min(Math.max(step ?? 1, least ?? -Infinity), most ?? Infinity);
  return step === undefined || step <= 0 ? near : Math.ceil(near / step) * step;
}

/** Chooses a text by its format, or by the usual meaning of the argument's name. */
function textOf({ format, minLength, maxLength }: Schema, { name, tool }: Place): string {
  const known = FORMATS[String(format)] ?? byName(name, tool);
  const least = typeof minLength === 'number' ? Math.min(minLength, MAX_TEXT_CHARS) : 0;
  const most = typeof maxLength === 'number' ? maxLength : MAX_TEXT_CHARS;
  return known.padEnd(least, 'x').slice(0, Math.max(most, 0));
}

function byName(name: string, tool: string): string {
  const text = NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? 'text';
  return text === FILE && /dir|folder|tree/i.test(tool) ? '.' : text;
}

const FILE = 'README.md';

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  time: '12:00:00Z',
  'date-time': '2026-01-31T12:00:00Z',
  duration: 'PT1H',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com',
  url: 'https://example.com',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
};

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/ur[il]$/i, 'https://example.com'],
  [/email/i, 'ada@example.com'],
  [/(?:dir|directory|folder|root)$/i, '.'],
  [/(?:path|file)$/i, FILE],
];
