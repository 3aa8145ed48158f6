/**
 * A map from strings to values for entries that are added and removed all the time, such as running calls: the tables of
 * a `Map` keep each other alive (number-map.ts), those of an object do not.
 */

export class StringMap<V extends object> {
  readonly #entries: Record<string, V> = Object.create(null);

  get(key: string): V | undefined {
    return this.#entries[key];
  }

  set(key: string, value: V): void {
    this.#entries[key] = value;
  }

  delete(key: string): void {
    delete this.#entries[key];
  }

  values(): readonly V[] {
    return Object.values(this.#entries);
  }
}
