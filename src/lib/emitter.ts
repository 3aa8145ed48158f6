/** A typed emitter whose `on` returns its own undoing; a listener that throws harms nobody else. */

export type Unsubscribe = () => void;

export class Emitter<Events extends object> {
  /** Lists are replaced, never changed: one that is being walked stays as it was, without a copy for every event. */
  readonly #listeners = new Map<keyof Events, readonly ((event: never) => void)[]>();
  readonly #onListenerError: (error: unknown) => void;
  #complaining = false;

  constructor(onListenerError: (error: unknown) => void = () => {}) {
    this.#onListenerError = onListenerError;
  }

  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): Unsubscribe {
    const known = this.#listeners.get(name) ?? [];
    if (!known.includes(listener)) this.#listeners.set(name, [...known, listener]);
    return () => {
      const left = this.#listeners.get(name)?.filter((other) => other !== listener);
      if (left !== undefined) this.#listeners.set(name, left);
    };
  }

  /** Lets a caller skip building an event that nobody would see. */
  has(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.length ?? 0) > 0;
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    const listeners = this.#listeners.get(name);
    if (listeners === undefined) return;
    for (const listener of listeners) {
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
