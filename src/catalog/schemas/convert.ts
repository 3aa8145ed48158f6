/** Converts a tool's input schema to one that a model provider accepts, or returns why it cannot (CAT-5). */

import { isRecord } from '../../lib/json.ts';
import { Changes } from './changes.ts';
import { PROFILES, type Provider } from './provider-profile.ts';
import { readSchema } from './read-schema.ts';
import { restoreValue } from './restore.ts';
import { isContainer, type SchemaNode, shallow } from './schema-node.ts';
import { type JsonSchema, Writer, type Written } from './write-schema.ts';

export interface ConvertOptions {
  /** Limit on the result as JSON; at most and by default `MAX_BYTES`. */
  readonly maxBytes?: number;
}

export type Conversion =
  | {
      readonly ok: true;
      readonly schema: JsonSchema;
      /** Changes to report to a user; empty if the meaning of the schema is unchanged. */
      readonly changes: readonly string[];
      /** Converts a model's arguments back to the server's; absent if they are the same. */
      readonly restore?: (args: Readonly<Record<string, unknown>>) => Record<string, unknown>;
    }
  | { readonly ok: false; readonly reason: string };

/** About 16,000 tokens: more than any tool needs. */
export const MAX_BYTES: number = 64 * 1024;

const MIN_BYTES = 1_024;

/** Adapters run in browsers too, which have no Buffer. */
const encoder = new TextEncoder();

/** Number of steps applied at once if a schema is this many times too large. */
const HASTE = 4;

/**
 * Converts an input schema for one provider.
 *
 * @example
 * convert({ properties: { $match: { type: 'object' } } }, 'anthropic');
 * // { ok: true, schema: { type: 'object', properties: { match: { … } } }, changes: […], restore }
 */
export function convert(schema: unknown, provider: Provider, options: ConvertOptions = {}): Conversion {
  const maxBytes = Math.min(Math.max(options.maxBytes ?? MAX_BYTES, MIN_BYTES), MAX_BYTES);
  const saysNothing = schema === undefined || schema === null || typeof schema === 'boolean';
  if (!saysNothing && !isRecord(schema)) return { ok: false, reason: 'the schema is not an object' };
  const refusal = {
    ok: false,
    reason: `its required arguments alone take more than ${maxBytes} bytes`,
  } as const;
  if (isRecord(schema) && (JSON.stringify(schema['required'])?.length ?? 0) > maxBytes) return refusal;
  const reading = new Changes();
  if (saysNothing) reading.add('', `${schema} is taken as "no parameters"`);
  let node = readSchema(isRecord(schema) ? schema : { type: 'object' }, reading);
  if (node === undefined) return { ok: false, reason: 'the schema does not describe an object' };

  const shrinking: string[] = [];
  let notes: string[] = [];
  let before = Number.POSITIVE_INFINITY;
  let stride = 1;
  for (let done = 0; done <= SHRINK_STEPS.length; done += stride) {
    const writing = new Changes();
    const writer = new Writer(PROFILES[provider], writing);
    const written = writer.root(node);
    const bytes = encoder.encode(JSON.stringify(written.schema)).length;
    if (bytes < before) shrinking.push(...notes);
    before = bytes;
    notes = [];
    if (bytes <= maxBytes && !writer.isTooLarge()) {
      return { ok: true, ...result(written), changes: [...reading.list(), ...shrinking, ...writing.list()] };
    }
    // Far too large: several steps are applied before the next measurement.
    stride = done + HASTE <= SHRINK_STEPS.length && bytes > maxBytes * HASTE ? HASTE : 1;
    for (const step of SHRINK_STEPS.slice(done, done + stride)) {
      node = step.apply(node);
      notes.push(`too large: ${step.note}`);
    }
  }
  return refusal;
}

function result({ schema, undo }: Written): Pick<Conversion & { ok: true }, 'schema' | 'restore'> {
  if (undo === undefined) return { schema };
  return {
    schema,
    restore: (args) => {
      const restored = restoreValue(args, undo);
      return isRecord(restored) ? restored : { ...args };
    },
  };
}

// Shrinks a schema step by step, the least useful parts first. Required arguments are always kept.

interface ShrinkStep {
  readonly note: string;
  readonly apply: (root: SchemaNode) => SchemaNode;
}

const LONG_WORDS_CHARS = 300;
const SHORT_WORDS_CHARS = 80;
const LONG_ENUM = 50;
/** Depths at which nested contents are removed, one after the other. */
const CUT_DEPTHS = [8, 6, 4, 3, 2, 1] as const;

/** Optional arguments of the root are removed from the end. */
const OPTIONAL_KEPT = [500, 200, 100, 50, 20, 10, 0] as const;

type Change = (node: SchemaNode, depth: number) => SchemaNode;

const SHRINK_STEPS: readonly ShrinkStep[] = [
  { note: 'examples are left out', apply: (root) => everywhere(root, withoutExamples) },
  { note: 'long descriptions are cut', apply: (root) => everywhere(root, cutWords(LONG_WORDS_CHARS, 0)) },
  { note: 'nested descriptions are cut', apply: (root) => everywhere(root, cutWords(SHORT_WORDS_CHARS, 2)) },
  { note: 'nested descriptions are left out', apply: (root) => everywhere(root, cutWords(0, 2)) },
  { note: 'long lists of values are left out', apply: (root) => everywhere(root, withoutLongEnum) },
  ...CUT_DEPTHS.map((depth) => ({
    note: `what is deeper than ${depth} is left out`,
    apply: (root: SchemaNode) => everywhere(root, (node, at) => (at >= depth ? shallow(node) : node)),
  })),
  { note: 'descriptions are cut', apply: (root) => everywhere(root, cutWords(SHORT_WORDS_CHARS, 0)) },
  { note: 'descriptions are left out', apply: (root) => everywhere(root, cutWords(0, 1)) },
  ...OPTIONAL_KEPT.map((count) => ({
    note: `of the optional arguments ${count} are kept`,
    apply: (root: SchemaNode) => withOptional(root, count),
  })),
];

/** Applies a change to every node, from the root (depth 0) inwards. */
function everywhere(node: SchemaNode, change: Change, depth = 0): SchemaNode {
  const changed = change(node, depth);
  if (!isContainer(changed)) return changed;
  const { additional, items, anyOf } = changed;
  const properties = [...changed.properties].map(([name, property]): [string, SchemaNode] => [
    name,
    everywhere(property, change, depth + 1),
  ]);
  return {
    ...changed,
    properties: new Map(properties),
    ...(typeof additional === 'object' ? { additional: everywhere(additional, change, depth + 1) } : {}),
    ...(items === undefined ? {} : { items: everywhere(items, change, depth + 1) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((branch) => everywhere(branch, change, depth)) }),
  };
}

function withoutExamples(node: SchemaNode): SchemaNode {
  const { examples: _examples, ...rest } = node;
  return rest;
}

function withoutLongEnum(node: SchemaNode): SchemaNode {
  if (node.enum === undefined || node.enum.length <= LONG_ENUM) return node;
  const { enum: _enum, ...rest } = node;
  return rest;
}

/** Shortens title, default and description from a depth on; 0 characters removes them. */
function cutWords(chars: number, from: number): Change {
  return (node, depth) => {
    if (depth < from) return node;
    const { title: _title, description, default: fallback, ...rest } = node;
    const keepsDefault = fallback !== undefined && (JSON.stringify(fallback)?.length ?? 0) <= chars;
    return {
      ...rest,
      ...(keepsDefault ? { default: fallback } : {}),
      ...(description === undefined || chars === 0 ? {} : { description: clip(description, chars) }),
    };
  };
}

function clip(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}

function withOptional(root: SchemaNode, count: number): SchemaNode {
  const kept = new Set(
    [...root.properties.keys()].filter((name) => !root.required.has(name)).slice(0, count),
  );
  const properties = [...root.properties].filter(([name]) => root.required.has(name) || kept.has(name));
  return { ...root, properties: new Map(properties) };
}
