/** Bounds, defaults and examples: which ones a provider supports, and how the others are described in text. */

import type { Profile } from './provider-profile.ts';
import type { JsonType, SchemaNode } from './schema-node.ts';

const MAX_VALUE_CHARS = 120;
const MAX_LISTED_CHARS = 400;
const MAX_EXAMPLES = 3;

/** The types that each bound applies to. */
const ABOUT: Readonly<Record<string, readonly JsonType[]>> = {
  minLength: ['string'],
  maxLength: ['string'],
  pattern: ['string'],
  format: ['string', 'number', 'integer'],
  minimum: ['number', 'integer'],
  maximum: ['number', 'integer'],
  exclusiveMinimum: ['number', 'integer'],
  exclusiveMaximum: ['number', 'integer'],
  multipleOf: ['number', 'integer'],
  minItems: ['array'],
  maxItems: ['array'],
  uniqueItems: ['array'],
  minProperties: ['object'],
  maxProperties: ['object'],
};

/** Look-around, back references, word boundaries and property classes: not supported by every engine. */
const FANCY_PATTERN = /\(\?[=!<]|\\[1-9bBpPk]/;

interface WritableLimits {
  readonly limits: Readonly<Record<string, string | number | boolean>>;
  readonly left: readonly string[];
}

const NO_LIMITS: WritableLimits = { limits: {}, left: [] };

/** Returns the supported bounds, and a text for each of the others. */
export function writableLimits(node: SchemaNode, profile: Profile): WritableLimits {
  if (node.limits.size === 0) return NO_LIMITS;
  if (profile.limits === undefined) return { limits: Object.fromEntries(node.limits), left: [] };
  const limits: Record<string, string | number | boolean> = {};
  const left: string[] = [];
  for (const [key, value] of node.limits) {
    if (!ABOUT[key]?.some((type) => node.types.includes(type))) continue;
    const inclusive = inclusiveBound(key, value, node);
    if (isWritable(key, value, node, profile)) limits[key] = value;
    else if (inclusive !== undefined && !node.limits.has(inclusive.key))
      limits[inclusive.key] = inclusive.value;
    else left.push(`${key} ${clip(String(value))}`);
  }
  return { limits, left: left.length === 0 ? [] : [`Limits: ${left.join(', ')}.`] };
}

function isWritable(
  key: string,
  value: string | number | boolean,
  node: SchemaNode,
  profile: Profile,
): boolean {
  if (!profile.limits?.has(key)) return false;
  if (key === 'pattern') return !(profile.simplePatterns && FANCY_PATTERN.test(String(value)));
  if (key !== 'format' || profile.formats === undefined) return true;
  const { formats } = profile;
  return node.types.some((type) => formats[type]?.has(String(value)));
}

/** Converts an exclusive bound of an integer to an inclusive one: "more than 0" is "at least 1". */
function inclusiveBound(
  key: string,
  value: string | number | boolean,
  node: SchemaNode,
): { key: string; value: number } | undefined {
  if (typeof value !== 'number' || !node.types.includes('integer') || node.types.includes('number'))
    return undefined;
  if (key === 'exclusiveMinimum') return { key: 'minimum', value: Math.floor(value) + 1 };
  return key === 'exclusiveMaximum' ? { key: 'maximum', value: Math.ceil(value) - 1 } : undefined;
}

/** Describes default and examples in text. */
export function valueNotes(node: SchemaNode): string[] {
  const examples = (node.examples ?? [])
    .slice(0, MAX_EXAMPLES)
    .map((value) => clip(JSON.stringify(value) ?? ''));
  return [
    ...(node.default === undefined || node.default === null
      ? []
      : [`Default: ${clip(JSON.stringify(node.default) ?? '')}.`]),
    ...(examples.length === 0 ? [] : [`Examples: ${examples.join(', ')}.`]),
  ];
}

/** Lists the values of an enum in text, up to the limit. */
export function enumNote(values: readonly unknown[]): string {
  let listed = '';
  for (const value of values) {
    const next = `${listed === '' ? '' : ', '}${clip(JSON.stringify(value) ?? '')}`;
    if (listed.length + next.length > MAX_LISTED_CHARS) return `One of: ${listed}, ….`;
    listed += next;
  }
  return `One of: ${listed}.`;
}

function clip(text: string): string {
  return text.length <= MAX_VALUE_CHARS ? text : `${text.slice(0, MAX_VALUE_CHARS - 1)}…`;
}
