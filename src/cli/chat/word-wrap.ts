/** Text that comes in pieces, broken at spaces: a terminal breaks inside words. */

import { width } from '../table.ts';

/** A word that is longer than this is shown without waiting for its end. */
const MAX_HELD_CHARS = 200;
const FENCE = /^\s*(?:```|~~~)/;

/** Blocks of code keep their lines, so that they can be copied. */
export class WordWrap {
  readonly #columns: () => number | undefined;
  /** The end of what came, which may be half a word. */
  #held = '';
  /** What the current line shows so far, without breaks that were added. */
  #line = '';
  #cells = 0;
  #isCode = false;

  constructor(columns: () => number | undefined) {
    this.#columns = columns;
  }

  push(text: string): string {
    const all = this.#held + text;
    const end = all.search(/\S*$/);
    const isHeld = all.length - end <= MAX_HELD_CHARS;
    this.#held = isHeld ? all.slice(end) : '';
    return this.#place(isHeld ? all.slice(0, end) : all);
  }

  /** What is still held; the next text begins a new line. */
  flush(): string {
    const rest = this.#place(this.#held);
    this.#held = '';
    this.#newLine();
    this.#isCode = false;
    return rest;
  }

  #place(text: string): string {
    const columns = this.#columns();
    let out = '';
    for (const piece of text.match(/\n|[^\S\n]+|\S+/g) ?? []) {
      if (piece === '\n') {
        out += piece;
        this.#newLine();
        continue;
      }
      const cells = width(piece);
      this.#line += piece;
      const isOver = columns !== undefined && this.#cells > 0 && this.#cells + cells > columns;
      if (isOver && !this.#isCode && !FENCE.test(this.#line)) {
        const isSpace = piece.trim() === '';
        // The space before it stays at the end of the line, where no one sees it.
        out += isSpace ? '' : `\n${piece}`;
        this.#cells = isSpace ? columns : cells;
      } else {
        out += piece;
        this.#cells += cells;
      }
    }
    return out;
  }

  #newLine(): void {
    if (FENCE.test(this.#line)) this.#isCode = !this.#isCode;
    this.#line = '';
    this.#cells = 0;
  }
}
