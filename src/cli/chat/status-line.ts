/** The last line of the screen while a turn runs: what is being waited for. Everything else is written above it. */

import type { Output } from '../output.ts';
import { cut } from '../table.ts';

const CLEAR_LINE = '\r\u001b[2K';

export class StatusLine {
  readonly #output: Output;
  #text = '';
  #isShown = false;
  /** What was written last ended in the middle of a line. */
  #isMidLine = false;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Text of the transcript, as it comes. */
  write(text: string): void {
    if (text === '') return;
    this.#clear();
    this.#output.write(text);
    this.#isMidLine = !text.endsWith('\n');
    this.#draw();
  }

  /** A line of its own. */
  line(text: string): void {
    this.write(`${this.#isMidLine ? '\n' : ''}${text}\n`);
  }

  /** What is shown below the transcript; empty: nothing. */
  show(text: string): void {
    if (text === this.#text) return;
    this.#clear();
    this.#text = text;
    this.#draw();
  }

  /** Leaves the cursor on a line of its own with nothing on it. */
  end(): void {
    this.show('');
    if (this.#isMidLine) this.write('\n');
  }

  #clear(): void {
    if (this.#isShown) this.#output.write(CLEAR_LINE);
    this.#isShown = false;
  }

  /** In the middle of a line there is no room for it; it comes back with the next line. */
  #draw(): void {
    if (this.#text === '' || this.#isMidLine || !this.#output.live) return;
    const { columns, paint } = this.#output;
    this.#output.write(paint.faint(columns === undefined ? this.#text : cut(this.#text, columns - 1)));
    this.#isShown = true;
  }
}
