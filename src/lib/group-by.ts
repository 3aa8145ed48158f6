/** Groups items; the engine's own `Map.groupBy` needs Node 21. */

import { getOrMake } from './get-or-make.ts';

/** Returns the items of each key, in the order in which the keys first appear. */
export function groupBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) getOrMake<Key, Item[]>(groups, keyOf(item), () => []).push(item);
  return groups;
}
