/** Converts a tool's input schema to one that a model provider accepts, or returns why it cannot (CAT-5). */

import { isRecord } from '../../lib/json.ts';
import { Changes } from './changes.ts';
import { PROFILES, type Provider } from './provider-profile.ts';
import { readSchema } from './read-schema.ts';
import { restoreValue } from './restore.ts';
import { SHRINK_STEPS } from './shrink.ts';
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
    // Far too large: several steps are applied before the next measurement.
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
