/** Keeps the first and the last lines of a server's stderr, limited and safe to show. */

import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../lib/clock.ts';
import { clean } from '../policy/clean.ts';

/** Programs often print the reason first, and then their usage. */
const MAX_HEAD_LINES = 8;
const MAX_HEAD_CHARS = 2 * 1024;
const MAX_TAIL_LINES = 40;
const MAX_TAIL_CHARS = 8 * 1024;
/** Kept part of one line; the rest of the line is dropped. */
const MAX_LINE_CHARS = 1024;
/** Lines that are logged in each window; the tail receives all lines. */
const MAX_LOGGED_LINES = 100;
const LOG_WINDOW_MS = 10_000;

export interface StderrTailOptions {
  readonly clock: Clock;
  /** Removes known secrets from each line before it is kept or logged. */
  readonly redact: (text: string) => string;
  readonly log: (line: string) => void;
}

export class StderrTail {
  readonly #decoder = new StringDecoder('utf8');
  readonly #options: StderrTailOptions;
  readonly #head: string[] = [];
  #headChars = 0;
  /** Lines so far; the tail has the last of them. */
  #count = 0;
  #lines: string[] = [];
  #chars = 0;
  #partial = '';
  /** The current line exceeds the kept length. */
  #cut = false;

  #windowFrom = 0;
  #logged = 0;

  constructor(options: StderrTailOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    const text = this.#decoder.write(chunk);
    let from = 0;
    for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
      this.#extend(text.slice(from, Math.min(to, from + MAX_LINE_CHARS + 1)));
      this.#endLine();
      from = to + 1;
    }
    this.#extend(text.slice(from, from + MAX_LINE_CHARS + 1));
  }

  /** Returns the tail, including the incomplete line. */
  text(): string {
    const last = this.#cleaned();
    return (last === '' ? this.#lines : [...this.#lines, last]).join('\n');
  }

  /** Returns the first lines and the tail, with a marker in between if lines are missing. */
  ends(): string {
    const kept = this.#lines.length;
    const missing = this.#count - kept;
    if (missing <= 0) return this.text();
    const first = this.#head.slice(0, missing);
    const gap = missing - first.length;
    return [...first, ...(gap === 0 ? [] : [`… ${gap} lines …`]), this.text()].join('\n');
  }

  #extend(part: string): void {
    const room = MAX_LINE_CHARS - this.#partial.length;
    if (part.length > room) this.#cut = true;
    this.#partial += part.slice(0, room);
  }

  #endLine(): void {
    const line = this.#cleaned();
    this.#partial = '';
    this.#cut = false;
    if (line === '') return;
    this.#count += 1;
    if (this.#head.length < MAX_HEAD_LINES && this.#headChars + line.length <= MAX_HEAD_CHARS) {
      this.#head.push(line);
      this.#headChars += line.length;
    } else this.#headChars = MAX_HEAD_CHARS;
    this.#lines.push(line);
    this.#chars += line.length + 1;
    while (this.#lines.length > MAX_TAIL_LINES || this.#chars > MAX_TAIL_CHARS) {
      this.#chars -= (this.#lines.shift()?.length ?? 0) + 1;
    }
    this.#log(line);
  }

  #log(line: string): void {
    const { clock, log } = this.#options;
    if (clock.now() - this.#windowFrom >= LOG_WINDOW_MS) {
      this.#windowFrom = clock.now();
      this.#logged = 0;
    }
    this.#logged += 1;
    if (this.#logged <= MAX_LOGGED_LINES) log(line);
    else if (this.#logged === MAX_LOGGED_LINES + 1) log('More lines on stderr are not logged for now.');
  }

  #cleaned(): string {
    // Progress bars redraw one line with carriage returns: keep the last version, which a person would see.
    const shown = this.#partial.trimEnd().split('\r').at(-1) ?? '';
    const line = this.#options.redact(clean(shown, { multiline: false }));
    return this.#cut && line !== '' ? `${line}…` : line;
  }
}
