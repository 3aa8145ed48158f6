/** Shows a call's progress on one line of stderr and clears it at the end; prints nothing without a terminal. */

import type { Progress } from '../connection/peer.ts';
import { clean, oneLine } from '../policy/clean.ts';
import type { Output } from './output.ts';
import type { CommandHost } from './with-host.ts';

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
  const suffix =
    message === undefined ? '' : ` ${clean(message, { multiline: false, max: MAX_MESSAGE_CHARS })}`;
  if (total === undefined || total <= 0) return `${progress}${suffix}`;
  const done = Math.round(Math.min(1, Math.max(0, progress / total)) * BAR_CHARS);
  return `${'━'.repeat(done)}${'╌'.repeat(BAR_CHARS - done)} ${progress}/${total}${suffix}`;
}

function cut(text: string, columns: number | undefined): string {
  return columns === undefined ? text : [...text].slice(0, columns - 1).join('');
}

/** Shorter waits are not shown. */
const PATIENCE_MS = 500;
const REDRAW_MS = 250;

/** Runs work that connects servers, and shows which of them are still pending. */
export async function whileConnecting<T>(
  output: Output,
  host: Pick<CommandHost, 'servers'>,
  work: () => Promise<T>,
): Promise<T> {
  if (!output.liveNotes) return work();
  const line = new ProgressLine(output, 'connecting');
  const draw = (): void => {
    const servers = host.servers().filter(({ status }) => status !== 'disabled');
    const pending = servers.filter(({ status }) => status === 'connecting' || status === 'idle');
    if (pending.length === 0) return;
    const names = pending.map(({ name }) => oneLine(name)).join(', ');
    line.show({ progress: servers.length - pending.length, total: servers.length, message: names });
  };
  let redraw: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    draw();
    redraw = setInterval(draw, REDRAW_MS);
  }, PATIENCE_MS);
  try {
    return await work();
  } finally {
    clearTimeout(first);
    clearInterval(redraw);
    line.clear();
  }
}
