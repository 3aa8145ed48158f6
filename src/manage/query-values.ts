/** Reads the parameters of a request's address. */

import type { Schema } from './api-schemas.ts';
import { refusal } from './route.ts';

export function limitUpTo(maximum: number, usual: number): Schema & { readonly description: string } {
  return { type: 'integer', minimum: 1, maximum, description: `How many at most (${usual}).` };
}

export function wholeNumber(
  query: URLSearchParams,
  name: string,
  { fallback, max }: { readonly fallback: number; readonly max: number },
): number {
  const given = query.get(name);
  if (given === null) return fallback;
  if (/^[1-9]\d{0,8}$/.test(given) && Number(given) <= max) return Number(given);
  throw refusal(400, `${name} must be a whole number from 1 to ${max}`);
}

/** Returns a time in milliseconds since the epoch; undefined if it is not given. */
export function timeIn(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name);
  if (given === null || given === '') return undefined;
  const time = /^\d{1,15}$/.test(given) ? Number(given) : Date.parse(given);
  if (Number.isFinite(time)) return time;
  throw refusal(400, `${name} must be a time: milliseconds since the epoch, or ISO 8601`);
}

/** Returns a parameter that is not empty. */
export function textIn(query: URLSearchParams, name: string): string | undefined {
  return query.get(name) || undefined;
}
