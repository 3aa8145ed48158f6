/** Ctrl-C while a turn runs. The terminal would make a signal of it, which ends the whole command. */

const CTRL_C = 0x03;

/** Calls back for every Ctrl-C until it is given back; what else is typed meanwhile is dropped. */
export class TurnKeys {
  readonly #onCancel: () => void;
  readonly #listener = (bytes: Buffer | string): void => {
    for (const byte of Buffer.from(bytes)) if (byte === CTRL_C) this.#onCancel();
  };

  constructor(onCancel: () => void) {
    this.#onCancel = onCancel;
  }

  take(): void {
    process.stdin.setRawMode(true);
    process.stdin.on('data', this.#listener);
    process.stdin.resume();
  }

  /** For questions, which read the keyboard themselves, and for the end. */
  give(): void {
    process.stdin.off('data', this.#listener);
    process.stdin.setRawMode(false);
    process.stdin.pause();
  }
}
