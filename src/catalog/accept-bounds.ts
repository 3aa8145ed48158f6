/** Size and nesting limits for values in a server's definitions, and the members that are kept unchanged. */

import { defined } from '../lib/defined.ts';
import { isRecord } from '../lib/json.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Limit on nesting of objects and arrays; far above real schemas, far below the recursion limit. */
const MAX_NESTING = 1_000;
export const MAX_META_BYTES: number = 64 * 1024;

/** Returns why a value is rejected (too deep or too large); undefined if it is within the limits. */
export function sizeFault(value: object, maxBytes: number): string | undefined {
  return tooDeep(value) ?? tooLarge(JSON.stringify(value), maxBytes);
}

/** Depth-first walk without recursion, because a deep value would overflow the stack. */
function tooDeep(value: object): string | undefined {
  const waiting: [value: object, nesting: number][] = [[value, 1]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [parent, nesting] = next;
    if (nesting > MAX_NESTING) return `is nested more than ${MAX_NESTING} levels deep`;
    for (const child of Object.values(parent)) {
      if (typeof child === 'object' && child !== null) waiting.push([child, nesting + 1]);
    }
  }
  return undefined;
}

function tooLarge(json: string, maxBytes: number): string | undefined {
  const bytes = Buffer.byteLength(json);
  return bytes > maxBytes ? `has ${bytes} bytes, more than ${maxBytes}` : undefined;
}

export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Limit on all unknown members of one definition together. */
const MAX_EXTRA_BYTES: number = 64 * 1024;
const MAX_ICONS = 100;

/** Fields of a list item that are kept unchanged. */
export interface KeptFields {
  readonly icons?: readonly JsonObject[];
  /** Unknown members of the definition. Never mixed with fields that Plugboard adds itself. */
  readonly extra?: JsonObject;
}

/** Returns the members of an object that are not in `known`; undefined if there are none. */
export function unknownMembers(
  raw: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): JsonObject | undefined {
  let found: [string, unknown][] | undefined;
  for (const key of Object.keys(raw)) {
    if (known.has(key) || raw[key] === undefined) continue;
    found ??= [];
    found.push([key, raw[key]]);
  }
  // `fromEntries` defines properties, so a member called `__proto__` becomes an ordinary one.
  return found === undefined ? undefined : Object.fromEntries(found);
}

/** Returns the icons and unknown members of a definition; `note` reports omitted ones. */
export function acceptKept(
  raw: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  note: (text: string) => void,
): KeptFields {
  const icons = acceptIcons(raw['icons'], note);
  const extra = acceptExtra(raw, known, note);
  return defined({ icons, extra });
}

export function acceptExtra(
  raw: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  note: (text: string) => void,
): JsonObject | undefined {
  const extra = unknownMembers(raw, known);
  const fault = extra === undefined ? undefined : sizeFault(extra, MAX_EXTRA_BYTES);
  if (fault === undefined) return extra;
  note(
    `the unknown members ${Object.keys(extra ?? {})
      .slice(0, 5)
      .join(', ')} left out: together ${fault}`,
  );
  return undefined;
}

function acceptIcons(raw: unknown, note: (text: string) => void): readonly JsonObject[] | undefined {
  if (raw === undefined) return undefined;
  if (!Array.isArray(raw)) {
    note(`icons is ${kindOf(raw)}: left out`);
    return undefined;
  }
  const icons = raw.filter((icon): icon is JsonObject => isRecord(icon) && typeof icon['src'] === 'string');
  if (icons.length < raw.length) note('icons without a src are left out');
  const fault = icons.length > MAX_ICONS ? `has ${icons.length} members` : sizeFault(icons, MAX_EXTRA_BYTES);
  if (fault === undefined) return icons;
  note(`icons ${fault}: left out`);
  return undefined;
}
