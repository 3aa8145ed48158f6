/**
 * A list in the order of addition, whose items are removed in constant time.
 *
 * It is for items that come and go all the time. A removed entry refers to nothing, so that it keeps no other item alive
 * if the collector has already moved it to the old generation; the tables that a `Set` leaves behind do.
 */

export interface ListEntry<T> {
  readonly item: T;
  before: ListEntry<T> | undefined;
  after: ListEntry<T> | undefined;
}

export class LinkedList<T> {
  #first: ListEntry<T> | undefined;
  #last: ListEntry<T> | undefined;

  add(item: T): ListEntry<T> {
    const before = this.#last;
    const entry: ListEntry<T> = { item, before, after: undefined };
    if (before === undefined) this.#first = entry;
    else before.after = entry;
    this.#last = entry;
    return entry;
  }

  /** Removes an entry of this list; it must not have been removed before. */
  remove(entry: ListEntry<T>): void {
    const { before, after } = entry;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    entry.before = undefined;
    entry.after = undefined;
  }

  /** Returns the items, the oldest first. */
  items(): readonly T[] {
    const items: T[] = [];
    for (let entry = this.#first; entry !== undefined; entry = entry.after) items.push(entry.item);
    return items;
  }
}
