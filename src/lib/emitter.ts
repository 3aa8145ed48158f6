/** A typed emitter whose `on` returns its own undoing; a listener that throws harms nobody else. */

export type Unsubscribe = () => void;

export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();
  readonly #onListenerError: (error: unknown) => void;
  #complaining = false;

  constructor(onListenerError: (error: unknown) => void = () => {}) {
    this.#onListenerError = onListenerError;
  }

  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): Unsubscribe {
    let set = this.#listeners.get(name);
    if (set === undefined) {
      set = new Set();
      this.#listeners.set(name, set);
    }
    set.add(listener);
    return () => {
      set.delete(listener);
    };
  }

  /** Lets a caller skip building an event that nobody would see. */
  has(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    const set = this.#listeners.get(name);
    if (set === undefined) return;
    for (const listener of [...set]) {
      try {
        (listener as (event: Events[Name]) => void)(event);
      } catch (error) {
        this.#complain(error);
      }
    }
  }

  /** A complaint may itself be an event: a listener that throws at it too has been heard. */
  #complain(error: unknown): void {
    if (this.#complaining) return;
    this.#complaining = true;
    try {
      this.#onListenerError(error);
    } finally {
      this.#complaining = false;
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
