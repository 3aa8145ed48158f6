/** Compares the map of numbers with a `Map`, and the linked list with an array. */

import { expect, test } from 'vitest';
import { LinkedList, type ListEntry } from '../../src/lib/linked-list.ts';
import { NumberMap } from '../../src/lib/number-map.ts';

/** The same numbers in every run: a linear congruential generator. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

test.each([
  ['consecutive numbers', (n: number) => n],
  ['numbers that share their low bits', (n: number) => n * 65_536],
  ['numbers beyond 32 bits, negative numbers and fractions', (n: number) => (n - 50) * 2 ** 31 + n / 8],
])('a NumberMap has the entries that a Map has: %s', (_name, keyOf) => {
  const random = generator(7);
  const map = new NumberMap<{ readonly n: number }>();
  const expected = new Map<number, { readonly n: number }>();
  for (let step = 0; step < 20_000; step += 1) {
    const key = keyOf(random(100));
    if (random(2) === 0) {
      const value = { n: step };
      map.set(key, value);
      expected.set(key, value);
    } else {
      expect(map.delete(key)).toBe(expected.delete(key));
    }
    expect(map.get(key)).toBe(expected.get(key));
    expect(map.size).toBe(expected.size);
  }
  const sorted = (values: Iterable<{ readonly n: number }>): readonly number[] =>
    [...values].map(({ n }) => n).sort((a, b) => a - b);
  expect(sorted(map.values())).toEqual(sorted(expected.values()));
});

test('a NumberMap keeps its entries while it grows, and works again after it became empty', () => {
  const map = new NumberMap<{ readonly n: number }>();
  for (let n = 0; n < 5_000; n += 1) map.set(n, { n });
  for (let n = 0; n < 5_000; n += 1) expect(map.get(n)).toEqual({ n });
  for (let n = 0; n < 5_000; n += 1) expect(map.delete(n)).toBe(true);
  expect([map.size, map.get(1), map.has(1), map.values(), map.delete(1)]).toEqual([
    0,
    undefined,
    false,
    [],
    false,
  ]);
  map.set(1, { n: 1 });
  expect(map.values()).toEqual([{ n: 1 }]);
});

test('a LinkedList has its items in the order of addition, whichever are removed', () => {
  const random = generator(11);
  const list = new LinkedList<number>();
  const entries: ListEntry<number>[] = [];
  for (let step = 0; step < 2_000; step += 1) {
    if (random(5) < 3) entries.push(list.add(step));
    else for (const entry of entries.splice(random(entries.length + 1), 1)) list.remove(entry);
    expect(list.items()).toEqual(entries.map(({ item }) => item));
  }
});
