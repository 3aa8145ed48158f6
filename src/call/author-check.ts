/** Validates values with an author's schema: any Standard Schema, or a JSON Schema. */

import { isStandard, type JsonSchema, type Schema, type StandardIssue } from '../lib/author-schema.ts';
import { isRecord } from '../lib/json.ts';
import type { ArgumentCheck, ArgumentChecker } from './argument-check.ts';

const MAX_REPORTED = 8;

/** The parsed value, or its problems. */
export type Verdict = { readonly value: unknown } | { readonly problems: readonly string[] };

export interface AuthorCheck {
  check(value: unknown): Verdict | Promise<Verdict>;
  /** Loads the code that the first check needs. */
  prepare(): Promise<void>;
}

/** Loads the JSON Schema validator for the first value that is checked: that takes longer than a start. */
export type CheckerSource = () => Promise<ArgumentChecker>;

export function authorCheck(schema: Schema, checker: CheckerSource): AuthorCheck {
  return isStandard(schema) ? standardCheck(schema['~standard'].validate) : jsonCheck(schema, checker);
}

function standardCheck(
  validate: (value: unknown) => StandardVerdict | Promise<StandardVerdict>,
): AuthorCheck {
  return {
    check(value) {
      const result = validate(value);
      return result instanceof Promise ? result.then(verdictOf) : verdictOf(result);
    },
    prepare: () => Promise.resolve(),
  };
}

type StandardVerdict =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

function verdictOf(result: StandardVerdict): Verdict {
  return result.issues === undefined
    ? { value: result.value }
    : { problems: result.issues.slice(0, MAX_REPORTED).map(sentence) };
}

function sentence({ message, path = [] }: StandardIssue): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}

function jsonCheck(schema: JsonSchema, checker: CheckerSource): AuthorCheck {
  const mustBeObject = (schema['type'] ?? 'object') === 'object';
  let ready: ArgumentCheck | undefined;
  const verdict = (check: ArgumentCheck, value: unknown): Verdict => {
    if (mustBeObject && !isRecord(value)) return { problems: ['it must be an object'] };
    const problems = check(value);
    return problems.length === 0 ? { value } : { problems };
  };
  const load = async (): Promise<ArgumentCheck> => {
    ready ??= (await checker()).checkFor(schema);
    return ready;
  };
  return {
    check: (value) =>
      ready === undefined ? load().then((check) => verdict(check, value)) : verdict(ready, value),
    prepare: async () => {
      await load();
    },
  };
}
