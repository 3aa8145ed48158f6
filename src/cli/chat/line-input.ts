/** Reads lines at the terminal, with history, completion and Ctrl-C handling. */

import { type CompleterResult, createInterface, type Interface } from 'node:readline';

const MAX_HISTORY = 500;
const LEAVE_HINT = 'Press Ctrl-C again to leave (or Ctrl-D).';

export type Completer = (line: string) => Promise<CompleterResult>;

export class LineInput {
  readonly #completer: Completer;
  readonly #prompt: string;
  #history: string[] = [];
  #open: Interface | undefined;

  constructor(prompt: string, completer: Completer) {
    this.#prompt = prompt;
    this.#completer = completer;
  }

  /** Reads a line that starts with `begun`; undefined on leaving: Ctrl-D, or Ctrl-C twice on an empty line. */
  read(signal: AbortSignal, begun: string): Promise<string | undefined> {
    const lines = createInterface({
      input: process.stdin,
      output: process.stdout,
      prompt: this.#prompt,
      history: this.#history,
      historySize: MAX_HISTORY,
      removeHistoryDuplicates: true,
      completer: (line: string, done: (error: Error | null, result?: CompleterResult) => void) => {
        this.#completer(line).then(
          (result) => done(null, result),
          // A failed completion must not interrupt typing.
          () => done(null, [[], line]),
        );
      },
    });
    this.#open = lines;
    let isLeaving = false;
    return new Promise((resolve) => {
      const finish = (line: string | undefined): void => {
        signal.removeEventListener('abort', leave);
        this.#open = undefined;
        // Resolve first: close() emits 'close' synchronously, and its listener treats that as leaving.
        resolve(line);
        lines.close();
      };
      const leave = (): void => finish(undefined);
      signal.addEventListener('abort', leave, { once: true });
      lines.on('history', (history: string[]) => {
        this.#history = history;
      });
      lines.on('SIGINT', () => {
        if (lines.line === '' && isLeaving) return finish(undefined);
        // This Ctrl-C may have been meant for a turn that has just ended, so ask for a second one.
        isLeaving = lines.line === '';
        if (isLeaving) {
          this.interject(LEAVE_HINT);
          return;
        }
        // Discards the typed text, as in a shell.
        process.stdout.write('^C\n');
        lines.write(null, { ctrl: true, name: 'e' });
        lines.write(null, { ctrl: true, name: 'u' });
      });
      lines.once('line', finish);
      lines.once('close', leave);
      lines.prompt();
      if (begun !== '') lines.write(begun);
    });
  }

  /** Writes above the line being typed; false if no line is being typed. */
  interject(text: string): boolean {
    if (this.#open === undefined) return false;
    process.stdout.write(`\r\u001b[2K${text}\n`);
    this.#open.prompt(true);
    return true;
  }
}
