/** A typed event emitter whose `on` returns an unsubscribe function; a throwing listener does not affect others. */

export type Unsubscribe = () => void;

export class Emitter<Events extends object> {
  /** Lists are replaced, never mutated: iteration is safe without a copy for every event. */
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

  /** True if there are listeners; lets a caller skip building an unused event. */
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

  /** Reports a listener's error. The report may itself be an event, so errors during a report are dropped. */
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
