/** Renames properties that a provider would reject, such as MongoDB's `$vectorSearch`. */

import { MAX_PROPERTY_NAME_CHARS, type Profile } from './provider-profile.ts';

const NONE: ReadonlyMap<string, string> = new Map();

/** Maps original names that are not allowed to new ones, which never collide with other properties. */
export function renameProperties(
  names: Iterable<string>,
  rule: Profile['propertyName'],
): ReadonlyMap<string, string> {
  if (rule === undefined) return NONE;
  const given = [...names];
  const foreign = given.filter((name) => !rule.allowed.test(name));
  if (foreign.length === 0) return NONE;
  const taken = new Set(given.filter((name) => rule.allowed.test(name)));
  const renamed = new Map<string, string>();
  for (const name of foreign) {
    const safe = freeName(name, rule, taken);
    taken.add(safe);
    renamed.set(name, safe);
  }
  return renamed;
}

function freeName(
  name: string,
  rule: NonNullable<Profile['propertyName']>,
  taken: ReadonlySet<string>,
): string {
  // `$match` becomes `match`, which is more readable than `_match`.
  const bare = name.slice(0, MAX_PROPERTY_NAME_CHARS * 2).replace(/^[^a-zA-Z0-9_]+/, '');
  const safe = bare.replace(rule.foreign, '_').slice(0, MAX_PROPERTY_NAME_CHARS);
  const head = rule.allowed.test(safe) ? safe : `_${safe}`.slice(0, MAX_PROPERTY_NAME_CHARS);
  if (!taken.has(head)) return head;
  for (let count = 2; ; count++) {
    const suffix = `_${count}`;
    const numbered = head.slice(0, MAX_PROPERTY_NAME_CHARS - suffix.length) + suffix;
    if (!taken.has(numbered)) return numbered;
  }
}
