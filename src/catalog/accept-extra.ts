/** Keeps icons and unknown members of a definition unchanged, up to a size limit. */

import { isRecord } from '../lib/json.ts';
import { type JsonObject, kindOf, sizeFault } from './accept-bounds.ts';

/** Limit on all unknown members of one definition together. */
export const MAX_EXTRA_BYTES: number = 64 * 1024;
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
  if (icons === undefined && extra === undefined) return {};
  return {
    ...(icons === undefined ? {} : { icons }),
    ...(extra === undefined ? {} : { extra }),
  };
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
