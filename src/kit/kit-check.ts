/** Prepares a schema: its JSON Schema for lists, and its validation of values. */

import { authorCheck, type CheckerSource, type Verdict } from '../call/author-check.ts';
import { PlugboardError } from '../errors.ts';
import { isStandard, type JsonSchema, type Schema, type StandardSchema } from '../lib/author-schema.ts';

const TARGET = 'draft-2020-12';

export interface Check {
  /** As JSON Schema, for lists. */
  describe(): JsonSchema | Promise<JsonSchema>;
  check(value: unknown): Verdict | Promise<Verdict>;
}

export function createCheck(schema: Schema, side: 'input' | 'output', checker: CheckerSource): Check {
  const { check, prepare } = authorCheck(schema, checker);
  return {
    check,
    describe() {
      if (isStandard(schema)) return describeStandard(schema, side);
      // Loads the validator early: a client that lists tools usually calls one soon.
      setImmediate(() => void prepare().catch(() => {}));
      return schema;
    },
  };
}

function describeStandard(
  schema: StandardSchema,
  side: 'input' | 'output',
): JsonSchema | Promise<JsonSchema> {
  const { jsonSchema, vendor } = schema['~standard'];
  return jsonSchema === undefined
    ? describeByZod(schema, side, vendor)
    : jsonSchema[side]({ target: TARGET });
}

/** For versions of zod 4 without `~standard.jsonSchema`: zod itself can convert their schemas. */
async function describeByZod(
  schema: StandardSchema,
  side: 'input' | 'output',
  vendor: string,
): Promise<JsonSchema> {
  if (vendor !== 'zod' || !('_zod' in schema)) throw unlistable(vendor);
  const { toJSONSchema } = await import('zod/v4/core');
  // The marker `_zod` was checked above: it is on every schema of zod 4.
  return toJSONSchema(schema as unknown as Parameters<typeof toJSONSchema>[0], { io: side, target: TARGET });
}

function unlistable(vendor: string): PlugboardError {
  return new PlugboardError('USAGE', `A schema of ${vendor} cannot be written as JSON Schema here`, {
    hint: 'Take a version with ~standard.jsonSchema (zod has it since 4.2), or write the JSON Schema by hand.',
  });
}
