/** Validates options by a table, so that a mistake in plain JavaScript is an error and not a silent default. */

import { PlugboardError } from '../errors.ts';
import { isRecord } from './json.ts';
import { nearest } from './nearest.ts';

/** Returns undefined for a valid value, otherwise the expected value, with a hint if that alone is not clear. */
export type Check = (value: unknown) => string | Misfit | undefined;

export interface Misfit {
  readonly expected: string;
  readonly hint: string;
}

export const callable: Check = (value) => (typeof value === 'function' ? undefined : 'a function');
export const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false');
export const positive: Check = (value) =>
  typeof value === 'number' && value > 0 ? undefined : 'a positive number';

export function oneOf(...values: readonly string[]): Check {
  return (value) => (values.some((each) => each === value) ? undefined : listed(values, 'disjunction'));
}

/** Checks for an object with only these keys: a misspelt one would have no effect. */
export function fields(checks: Readonly<Record<string, Check>>): Check {
  const known = Object.keys(checks);
  return (value) => {
    if (!isRecord(value)) return 'an object';
    for (const [key, member] of Object.entries(value)) {
      const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
      if (check === undefined) {
        const [meant] = nearest(key, known, 1);
        const remedy = meant === undefined ? '' : ` Did you mean "${meant}"?`;
        const keys = listed(known, 'conjunction');
        return { expected: `an object with ${keys}`, hint: `It has "${key}".${remedy}` };
      }
      const misfit = member === undefined ? undefined : check(member);
      const expected = typeof misfit === 'object' ? misfit.expected : misfit;
      if (expected !== undefined)
        return { expected: `an object whose "${key}" is ${expected}`, hint: `It is ${shown(member)}.` };
    }
    return undefined;
  };
}

/** Called for messages only: creating the first formatter of a process takes 8 ms. */
function listed(values: readonly string[], type: 'conjunction' | 'disjunction'): string {
  return new Intl.ListFormat('en', { type }).format(values.map((value) => JSON.stringify(value)));
}

/**
 * Throws CONFIG_INVALID for an invalid value, and for a name that is a typo of an option. Returns the names that are
 * not options: they have no effect.
 */
export function checkOptions(
  options: unknown,
  known: Readonly<Record<string, Check>>,
  where: string,
  hints: Readonly<Record<string, string>> = {},
): readonly string[] {
  if (!isRecord(options)) {
    throw new PlugboardError('CONFIG_INVALID', `${where}: the options must be an object`, {
      hint: `They are ${shown(options)}.`,
    });
  }
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const check = Object.hasOwn(known, name) ? known[name] : undefined;
    if (check === undefined) {
      refuseSlip(name, Object.keys(known), where);
      unknown.push(name);
      continue;
    }
    const misfit = check(value);
    if (misfit === undefined) continue;
    const { expected, hint } = typeof misfit === 'object' ? misfit : { expected: misfit, hint: undefined };
    throw new PlugboardError('CONFIG_INVALID', `${where}: "${name}" must be ${expected}`, {
      hint: hints[name] ?? hint ?? `It is ${shown(value)}.`,
    });
  }
  return unknown;
}

function refuseSlip(name: string, known: readonly string[], where: string): void {
  const [meant] = nearest(name, known, 1);
  if (meant === undefined) return;
  throw new PlugboardError('CONFIG_INVALID', `${where}: "${name}" is not an option`, {
    hint: `Did you mean "${meant}"?`,
  });
}

/** Returns a value for a message; only its type if it may be large or secret. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  return typeof value === 'number' || typeof value === 'boolean' || value === null
    ? String(value)
    : `of type ${Array.isArray(value) ? 'array' : typeof value}`;
}
