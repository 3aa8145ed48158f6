/**
 * Reads the keyboard while a turn runs: handles Ctrl-C, which would otherwise be a signal that ends the command, and
 * collects text typed ahead.
 */

const CTRL_C = '\u0003';
/** Limit for text typed ahead; a longer paste is truncated. */
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

  /** `onCancel` is called for every Ctrl-C. */
  constructor(onCancel: () => void) {
    this.#onCancel = onCancel;
  }

  take(): void {
    process.stdin.setRawMode(true);
    process.stdin.on('data', this.#listener);
    process.stdin.resume();
  }

  /** Releases the keyboard, for questions that read it themselves and at the end. */
  give(): void {
    process.stdin.off('data', this.#listener);
    process.stdin.setRawMode(false);
    process.stdin.pause();
  }

  /** Returns and clears the text typed during the turn; it starts the next line. */
  typed(): string {
    const typed = this.#ahead;
    this.#ahead = '';
    return typed;
  }
}
