/** A block of lines on a terminal that is drawn again in place while things happen. */

import type { Output } from './output.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 90;
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_BELOW = '\u001b[0J';

export class LiveBlock {
  readonly #output: Output;
  readonly #render: (spinner: string) => string[];
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;
  #drawn = 0;

  /** `render` gives the lines as they should stand now, each one no wider than the terminal. */
  constructor(output: Output, render: (spinner: string) => string[]) {
    this.#output = output;
    this.#render = render;
  }

  start(): void {
    // Also when the process is ended in the middle: a terminal without a cursor is a broken terminal.
    process.once('exit', this.#showCursor);
    this.#output.write(HIDE_CURSOR);
    this.draw();
    this.#timer = setInterval(() => {
      this.#frame = (this.#frame + 1) % FRAMES.length;
      this.draw();
    }, FRAME_MS);
  }

  draw(): void {
    const all = this.#render(FRAMES[this.#frame] ?? '');
    // What scrolled out of the window cannot be redrawn: keep to the window until the end.
    const lines = all.slice(0, Math.max(1, this.#output.rows - 1));
    this.#output.write(`${this.#rewind()}${lines.join('\n')}\n`);
    this.#drawn = lines.length;
  }

  /** Draws the last state whole and gives the cursor back. May be called twice. */
  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#output.write(`${this.#rewind()}${this.#render('…').join('\n')}\n`);
    this.#showCursor();
    process.off('exit', this.#showCursor);
  }

  readonly #showCursor = (): void => this.#output.write(SHOW_CURSOR);

  #rewind(): string {
    return this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\r${CLEAR_BELOW}`;
  }
}
