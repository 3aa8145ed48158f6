/** Detects confusable names of servers and tools. */

const MIN_TYPO_CHARS = 6;

/** Letters of other alphabets, digits and letter pairs that look like another letter. */
const LOOKS_LIKE: readonly (readonly [RegExp, string])[] = [
  [/[аɑα]/g, 'a'],
  [/[еε]/g, 'e'],
  [/[оοσ0]/g, 'o'],
  [/[рρ]/g, 'p'],
  [/[с]/g, 'c'],
  [/[ух]/g, 'x'],
  [/[іι1l|!]/g, 'i'],
  [/[ѕ5$]/g, 's'],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/[-_. ]+/g, ''],
];

/**
 * Returns servers whose names are confusable with this one.
 *
 * @example
 * lookAlikes('g1thub', [{ name: 'github' }]); // ['github']
 */
export function lookAlikes(name: string, servers: readonly { readonly name: string }[]): string[] {
  const skeleton = skeletonOf(name);
  return servers
    .map((server) => server.name)
    .filter((other) => other !== name && isClose(skeleton, skeletonOf(other)));
}

/**
 * Maps tools whose names use other alphabets to the tools that they look like. Among tools only that is suspicious:
 * `list_item` and `list_items` are a common pair.
 */
export function twinsAmong(names: readonly string[]): ReadonlyMap<string, string> {
  const isForeign = (name: string): boolean => /\P{ASCII}/u.test(name);
  const foreign = names.filter(isForeign);
  if (foreign.length === 0) return new Map();
  const plain = new Map(names.filter((name) => !isForeign(name)).map((name) => [skeletonOf(name), name]));
  return new Map(
    foreign.flatMap((name): [string, string][] => {
      const twin = plain.get(skeletonOf(name));
      return twin === undefined ? [] : [[name, twin]];
    }),
  );
}

function skeletonOf(name: string): string {
  const folded = name
    .normalize('NFKD')
    .replace(/\p{M}|\p{Cf}/gu, '')
    .toLowerCase();
  return LOOKS_LIKE.reduce((text, [letters, letter]) => text.replace(letters, letter), folded);
}

function isClose(one: string, other: string): boolean {
  return one === other || (Math.min(one.length, other.length) >= MIN_TYPO_CHARS && isOneEdit(one, other));
}

/** True if the names differ by one letter added, removed or replaced, or two neighbours swapped. */
function isOneEdit(one: string, other: string): boolean {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let end = 0;
  const room = Math.min(one.length, other.length) - start;
  while (end < room && one.at(-1 - end) === other.at(-1 - end)) end++;
  const [a, b] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  return (a.length <= 1 && b.length <= 1) || (a.length === 2 && b === `${a[1]}${a[0]}`);
}
