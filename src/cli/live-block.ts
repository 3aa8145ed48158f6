/** Redraws a block of lines in place on a terminal. */

import type { Output } from './output.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 90;
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_LINE_END = '\u001b[K';
/** Clears only below the block: clearing the whole screen adds it to the scrollback of some terminals. */
const CLEAR_BELOW = '\u001b[J';

export class LiveBlock {
  readonly #output: Output;
  readonly #render: (spinner: string) => string[];
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;
  #drawn: readonly string[] = [];

  /** `render` returns the current lines, none wider than the terminal. */
  constructor(output: Output, render: (spinner: string) => string[]) {
    this.#output = output;
    this.#render = render;
  }

  start(): void {
    // Also restores the cursor if the process exits in between.
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
    // Lines that scrolled out of the window cannot be redrawn, so only the visible ones are drawn until the end.
    this.#replace(all.slice(0, Math.max(1, this.#output.rows - 1)));
  }

  /** Draws the complete last state and shows the cursor again. May be called twice. */
  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#replace(this.#render('…'));
    this.#showCursor();
    process.off('exit', this.#showCursor);
  }

  readonly #showCursor = (): void => this.#output.write(SHOW_CURSOR);

  /** Overwrites the previous lines; unchanged lines are skipped. */
  #replace(lines: readonly string[]): void {
    const before = this.#drawn;
    const up = before.length === 0 ? '' : `\u001b[${before.length}A\r`;
    const text = lines.map((line, at) =>
      line === before[at] ? '\n' : `${this.#output.drawable(line)}${CLEAR_LINE_END}\n`,
    );
    this.#output.write(`${up}${text.join('')}${lines.length < before.length ? CLEAR_BELOW : ''}`);
    this.#drawn = lines;
  }
}
