/** Shows a call's progress on one line of stderr and clears it at the end; prints nothing without a terminal. */

import type { Progress } from '../connection/peer.ts';
import { clean } from '../policy/clean.ts';
import type { Output } from './output.ts';

const BAR_CHARS = 24;
const MAX_MESSAGE_CHARS = 60;
const CLEAR_LINE = '\r\u001b[2K';

export class ProgressLine {
  readonly #output: Output;
  readonly #what: string;
  #drawn = false;

  constructor(output: Output, what: string) {
    this.#output = output;
    this.#what = clean(what, { multiline: false, max: MAX_MESSAGE_CHARS });
  }

  show(progress: Progress): void {
    if (!this.#output.liveNotes) return;
    const text = `${this.#what} ${describe(progress)}`;
    this.#drawn = true;
    this.#output.noteInPlace(
      `${CLEAR_LINE}${this.#output.notePaint.faint(cut(text, this.#output.noteColumns))}`,
    );
  }

  clear(): void {
    if (this.#drawn) this.#output.noteInPlace(CLEAR_LINE);
    this.#drawn = false;
  }
}

/** `━━━━━━━━╌╌╌╌ 2/4 message`; without a bar if the server does not send a total. */
function describe({ progress, total, message }: Progress): string {
  const said =
    message === undefined ? '' : ` ${clean(message, { multiline: false, max: MAX_MESSAGE_CHARS })}`;
  if (total === undefined || total <= 0) return `${progress}${said}`;
  const done = Math.round(Math.min(1, Math.max(0, progress / total)) * BAR_CHARS);
  return `${'━'.repeat(done)}${'╌'.repeat(BAR_CHARS - done)} ${progress}/${total}${said}`;
}

function cut(text: string, columns: number | undefined): string {
  return columns === undefined ? text : [...text].slice(0, columns - 1).join('');
}
