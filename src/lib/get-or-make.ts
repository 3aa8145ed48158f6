/** Fills a map on demand. */

/**
 * Returns the value of a key; makes and stores it if there is none.
 *
 * @example
 * const lane = getOrMake(lanes, connection, () => ({ running: 0, waiting: [] }));
 */
export function getOrMake<Key, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
