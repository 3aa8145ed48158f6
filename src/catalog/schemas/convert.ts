/** Turns a tool's input schema into one that a model provider accepts, or says why there is none (CAT-5). */

import { isRecord } from '../../lib/json-rpc.ts';
import { Changes } from './changes.ts';
import { PROFILES, type Provider } from './profile.ts';
import { readSchema } from './read.ts';
import { restoreValue } from './restore.ts';
import { SHRINK_STEPS } from './shrink.ts';
import { type JsonSchema, Writer, type Written } from './write.ts';

export interface ConvertOptions {
  /** Of the result as JSON; at most and by default `MAX_BYTES`. */
  readonly maxBytes?: number;
}

export type Conversion =
  | {
      readonly ok: true;
      readonly schema: JsonSchema;
      /** What a person should know was done; empty when the schema means the same as it did. */
      readonly changes: readonly string[];
      /** Turns a model's arguments into the server's; absent when they are the same. */
      readonly restore?: (args: Readonly<Record<string, unknown>>) => Record<string, unknown>;
    }
  | { readonly ok: false; readonly reason: string };

/** About 16,000 tokens: more than any tool is worth. */
export const MAX_BYTES: number = 64 * 1024;

const MIN_BYTES = 1_024;

/** Adapters run in browsers too, which have no Buffer. */
const encoder = new TextEncoder();

/** Steps taken at once when a schema is this many times too large. */
const HASTE = 4;

/**
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
  let untold: string[] = [];
  let before = Number.POSITIVE_INFINITY;
  let stride = 1;
  for (let done = 0; done <= SHRINK_STEPS.length; done += stride) {
    const writing = new Changes();
    const writer = new Writer(PROFILES[provider], writing);
    const written = writer.root(node);
    const bytes = encoder.encode(JSON.stringify(written.schema)).length;
    if (bytes < before) shrinking.push(...untold);
    before = bytes;
    untold = [];
    if (bytes <= maxBytes && writer.excess() === undefined) {
      return { ok: true, ...result(written), changes: [...reading.list(), ...shrinking, ...writing.list()] };
    }
    // Far too large: no need to measure after every single step.
    stride = done + HASTE <= SHRINK_STEPS.length && bytes > maxBytes * HASTE ? HASTE : 1;
    for (const step of SHRINK_STEPS.slice(done, done + stride)) {
      node = step.apply(node);
      untold.push(`too large: ${step.says}`);
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
