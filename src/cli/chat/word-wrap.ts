/** Wraps streamed text at spaces, because a terminal breaks lines inside words. */

import { width } from '../table.ts';

/** A longer word is shown before it is complete. */
const MAX_HELD_CHARS = 200;
const FENCE = /^\s*(?:```|~~~)/;

/** Code blocks are not wrapped, so that they can be copied. */
export class WordWrap {
  readonly #columns: () => number | undefined;
  /** The end of the received text, which may be an incomplete word. */
  #held = '';
  /** The current line's text, without the line breaks that were added. */
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

  /** Returns the held text; the next text starts a new line. */
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
        // The space before it stays at the end of the line, where it is invisible.
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
