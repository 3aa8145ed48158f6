/** Draws the status line at the bottom while a turn runs; all other text is written above it. */

import type { Output } from '../output.ts';
import { cut } from '../table.ts';

const CLEAR_LINE = '\r\u001b[2K';

export class StatusLine {
  readonly #output: Output;
  #text = '';
  #isShown = false;
  /** True if the last text did not end with a newline. */
  #isMidLine = false;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Writes text of the transcript as it arrives. */
  write(text: string): void {
    if (text === '') return;
    this.#clear();
    this.#output.write(text);
    this.#isMidLine = !text.endsWith('\n');
    this.#draw();
  }

  /** Writes a line of its own. */
  line(text: string): void {
    this.write(`${this.#isMidLine ? '\n' : ''}${text}\n`);
  }

  /** Sets the text of the status line; '' removes it. */
  show(text: string): void {
    if (text === this.#text) return;
    this.#clear();
    this.#text = text;
    this.#draw();
  }

  /** Removes the status line and leaves the cursor on an empty line. */
  end(): void {
    this.show('');
    if (this.#isMidLine) this.write('\n');
  }

  #clear(): void {
    if (this.#isShown) this.#output.write(CLEAR_LINE);
    this.#isShown = false;
  }

  /** Not drawn in the middle of a line; it is drawn again after the next newline. */
  #draw(): void {
    if (this.#text === '' || this.#isMidLine || !this.#output.live) return;
    const { columns, paint } = this.#output;
    this.#output.write(paint.faint(columns === undefined ? this.#text : cut(this.#text, columns - 1)));
    this.#isShown = true;
  }
}
