/** A schema made ready for use: what a client is shown of it, and what it says about a value. */

import type { ArgumentCheck, ArgumentChecker } from '../call/argument-check.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json-rpc.ts';
import {
  isStandard,
  type JsonSchema,
  type Schema,
  type StandardIssue,
  type StandardSchema,
} from './schema.ts';

const TARGET = 'draft-2020-12';
const MAX_REPORTED = 8;

export type Verdict = { readonly value: unknown } | { readonly problems: readonly string[] };

export interface Check {
  /** As JSON Schema, for lists. */
  describe(): JsonSchema | Promise<JsonSchema>;
  check(value: unknown): Verdict | Promise<Verdict>;
}

/** Loads what checks JSON Schemas when the first value has to be checked: that takes longer than a start does. */
export type CheckerSource = () => Promise<ArgumentChecker>;

export function createCheck(schema: Schema, side: 'input' | 'output', checker: CheckerSource): Check {
  return isStandard(schema) ? standardCheck(schema, side) : jsonCheck(schema, checker);
}

function standardCheck(schema: StandardSchema, side: 'input' | 'output'): Check {
  const { validate, jsonSchema, vendor } = schema['~standard'];
  const described = (): JsonSchema | Promise<JsonSchema> =>
    jsonSchema === undefined ? describeByZod(schema, side, vendor) : jsonSchema[side]({ target: TARGET });
  const verdict = (result: Awaited<ReturnType<typeof validate>>): Verdict =>
    result.issues === undefined
      ? { value: result.value }
      : { problems: result.issues.slice(0, MAX_REPORTED).map(sentence) };
  return {
    describe: described,
    check(value) {
      const result = validate(value);
      return result instanceof Promise ? result.then(verdict) : verdict(result);
    },
  };
}

/** Versions of zod 4 before `~standard.jsonSchema`: zod itself can write their schemas down. */
async function describeByZod(
  schema: StandardSchema,
  side: 'input' | 'output',
  vendor: string,
): Promise<JsonSchema> {
  if (vendor !== 'zod' || !('_zod' in schema)) throw unlistable(vendor);
  const { toJSONSchema } = await import('zod/v4/core');
  // The mark `_zod` was looked for above: it is on every schema of zod 4.
  return toJSONSchema(schema as unknown as Parameters<typeof toJSONSchema>[0], { io: side, target: TARGET });
}

function unlistable(vendor: string): PlugboardError {
  return new PlugboardError('USAGE', `A schema of ${vendor} cannot be written as JSON Schema here.`, {
    hint: 'Take a version with ~standard.jsonSchema (zod has it since 4.2), or write the JSON Schema by hand.',
  });
}

function sentence({ message, path = [] }: StandardIssue): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}

function jsonCheck(schema: JsonSchema, checker: CheckerSource): Check {
  let ready: ArgumentCheck | undefined;
  const verdict = (check: ArgumentCheck, value: unknown): Verdict => {
    if (!isRecord(value)) return { problems: ['it has to be an object'] };
    const problems = check(value);
    return problems.length === 0 ? { value } : { problems };
  };
  const load = async (): Promise<ArgumentCheck> => {
    ready ??= (await checker()).checkFor(schema);
    return ready;
  };
  return {
    describe() {
      // Who lists tools calls one soon: by then it is ready.
      setImmediate(() => void load().catch(() => {}));
      return schema;
    },
    check: (value) =>
      ready === undefined ? load().then((check) => verdict(check, value)) : verdict(ready, value),
  };
}
