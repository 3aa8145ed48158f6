/** The keyboard while a turn runs: Ctrl-C, of which the terminal would make a signal that ends the whole command, and typing ahead. */

const CTRL_C = '\u0003';
/** More than anybody types while waiting; a paste of more is cut. */
const MAX_AHEAD_CHARS = 10_000;
/** Keys that are not text: arrows, function keys, other control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const NO_TEXT = /\x1b\[?[0-?]*[ -/]*[@-~]?|[\x00-\x1f\x7f]/g;

export class TurnKeys {
  readonly #onCancel: () => void;
  #ahead = '';
  readonly #listener = (bytes: Buffer): void => {
    const text = bytes.toString('utf8');
    for (const char of text) if (char === CTRL_C) this.#onCancel();
    this.#ahead = (this.#ahead + text.replace(NO_TEXT, '')).slice(0, MAX_AHEAD_CHARS);
  };

  /** Called back for every Ctrl-C. */
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

  /** What was typed meanwhile, once: it belongs into the next line. */
  typed(): string {
    const typed = this.#ahead;
    this.#ahead = '';
    return typed;
  }
}
