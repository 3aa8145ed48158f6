/**
 * A map from numbers to values for entries that are added and removed all the time, such as requests in flight.
 *
 * A `Map` leaves a table behind whenever it grows or shrinks, and V8 links each table to its successor. Once one of them
 * is in the old generation, it keeps every later table alive until a full collection, and with it all values that were
 * present when a table was replaced: nearly every request of a busy connection. Here the same two arrays are reused.
 */

const MIN_CAPACITY = 4;
/** A larger map that becomes empty releases its arrays. */
const MAX_EMPTY_CAPACITY = 1_024;
/** 2^32 divided by the golden ratio: spreads consecutive numbers over the table. */
const SPREAD = 0x9e3779b1;

export class NumberMap<V extends object> {
  #keys: number[] = [];
  /** Undefined: the place is free. */
  #values: (V | undefined)[] = [];
  #size = 0;
  #mask = -1;

  get size(): number {
    return this.#size;
  }

  get(key: number): V | undefined {
    return this.#size === 0 ? undefined : this.#values[this.#find(key)];
  }

  has(key: number): boolean {
    return this.get(key) !== undefined;
  }

  set(key: number, value: V): void {
    // At most half of the places are used: searches stay short.
    if (this.#size * 2 > this.#mask) this.#resize(Math.max(MIN_CAPACITY, (this.#mask + 1) * 2));
    const at = this.#find(key);
    if (this.#values[at] === undefined) this.#size += 1;
    this.#keys[at] = key;
    this.#values[at] = value;
  }

  /** Returns true if there was such an entry. */
  delete(key: number): boolean {
    if (this.#size === 0) return false;
    const at = this.#find(key);
    if (this.#values[at] === undefined) return false;
    this.#size -= 1;
    if (this.#size === 0 && this.#mask >= MAX_EMPTY_CAPACITY) this.#resize(0);
    else this.#free(at);
    return true;
  }

  /** Returns the values in no particular order. Entries may be removed while the result is read. */
  values(): readonly V[] {
    return this.#size === 0 ? [] : this.#values.filter((value) => value !== undefined);
  }

  /** Returns the place of a key, or the free place where it would be. */
  #find(key: number): number {
    const keys = this.#keys;
    const values = this.#values;
    const mask = this.#mask;
    let at = placeOf(key, mask);
    while (values[at] !== undefined && keys[at] !== key) at = (at + 1) & mask;
    return at;
  }

  /** Frees a place, and moves up the entries behind it that a search would no longer reach. */
  #free(from: number): void {
    const keys = this.#keys;
    const values = this.#values;
    const mask = this.#mask;
    let free = from;
    for (let at = (free + 1) & mask; values[at] !== undefined; at = (at + 1) & mask) {
      const key = keys[at] ?? 0;
      const distance = (at - placeOf(key, mask)) & mask;
      if (distance < ((at - free) & mask)) continue;
      keys[free] = key;
      values[free] = values[at];
      free = at;
    }
    values[free] = undefined;
  }

  #resize(capacity: number): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = new Array<number>(capacity).fill(0);
    this.#values = new Array<V | undefined>(capacity).fill(undefined);
    this.#mask = capacity - 1;
    for (const [at, value] of values.entries()) {
      if (value === undefined) continue;
      const key = keys[at] ?? 0;
      const place = this.#find(key);
      this.#keys[place] = key;
      this.#values[place] = value;
    }
  }
}

function placeOf(key: number, mask: number): number {
  const spread = Math.imul(key, SPREAD);
  return (spread ^ (spread >>> 16)) & mask;
}
