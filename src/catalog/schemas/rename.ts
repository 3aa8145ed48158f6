/** Names for properties that a provider would refuse, such as MongoDB's `$vectorSearch`. */

import { MAX_PROPERTY_NAME_CHARS, type Profile } from './profile.ts';

/** Original name → the one the provider gets. Names that are allowed stay; the others never take theirs. */
export function renameProperties(
  names: Iterable<string>,
  rule: Profile['propertyName'],
): Map<string, string> {
  const given = [...names];
  if (rule === undefined) return new Map(given.map((name) => [name, name]));
  const taken = new Set(given.filter((name) => rule.allowed.test(name)));
  const renamed = new Map<string, string>();
  for (const name of given) {
    const safe = rule.allowed.test(name) ? name : freeName(name, rule, taken);
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
  // `$match` reads better as `match` than as `_match`.
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
