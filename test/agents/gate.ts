/** Holds agents at a point of their scripts until the test goes on. */

export class Gate {
  readonly opened: Promise<void>;
  #resolve: () => void = () => undefined;
  #missing: number;

  /** Opens by itself when so many have arrived. */
  constructor(expected: number = Number.POSITIVE_INFINITY) {
    this.#missing = expected;
    this.opened = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  arrive(): void {
    this.#missing -= 1;
    if (this.#missing === 0) this.open();
  }

  open(): void {
    this.#resolve();
  }
}
