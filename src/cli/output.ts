/** Output streams of a command: results on stdout (one JSON document with `--json`), everything else on stderr. */

import { type QuestionPlace, questionPlace } from '../lib/question-place.ts';
import { isTerminal, Sink, type TextSink } from '../lib/sink.ts';
import { visibleJson } from '../policy/clean.ts';

/** Width for tables if the terminal does not report its own. */
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;

export interface OutputOptions {
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** Once aborted, only the failure is printed, because the interrupted work has no result. */
  readonly signal: AbortSignal;
  /** Called once if stdout is not writable: its reader exited (`plugboard list | head -1`), or the disk is full. */
  readonly onReaderGone: (error: Error) => void;
  /** Replaces both streams when the command runs for a terminal of another process, where no one can be asked. */
  readonly elsewhere?:
    | {
        readonly stdout: TextSink;
        readonly stderr: TextSink;
        /** Why no one can be asked at that terminal. */
        readonly notAsked?: string | undefined;
      }
    | undefined;
}

export class Output {
  readonly json: boolean;
  /** Colours for stdout. */
  readonly paint: Paint;
  /** Colours for stderr. */
  readonly notePaint: Paint;
  /** True if lines may be redrawn in place. */
  readonly live: boolean;
  /** True if notes may be redrawn in place. */
  readonly liveNotes: boolean;
  /** True if a person can be asked. */
  readonly canAsk: boolean;
  readonly #isFancy: boolean;
  #questions: QuestionPlace | undefined;
  readonly #isAscii: boolean;
  readonly #signal: AbortSignal;
  readonly #stdout: TextSink;
  readonly #stderr: TextSink;
  #readerGone = false;

  constructor({ json, env, signal, onReaderGone, elsewhere }: OutputOptions) {
    this.#signal = signal;
    const gone = (error: Error): void => {
      if (this.#readerGone) return;
      this.#readerGone = true;
      onReaderGone(error);
    };
    this.#stdout = elsewhere?.stdout ?? new Sink(STDOUT, gone);
    this.#stderr = elsewhere?.stderr ?? new Sink(STDERR, () => {});
    const isFancy = !env['CI'] && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
    const colours = (sink: TextSink): boolean => forcedColour(env) ?? (isFancy && sink.isTerminal);
    this.#isFancy = isFancy;
    this.#isAscii = !hasUnicode(env);
    this.json = json;
    this.live = !json && isFancy && this.#stdout.isTerminal;
    this.canAsk = !json && this.#stdout.isTerminal && elsewhere === undefined && isTerminal(STDIN);
    if (elsewhere !== undefined) this.#questions = { why: elsewhere.notAsked ?? 'there is no terminal' };
    this.paint = createPaint(!json && colours(this.#stdout));
    this.liveNotes = !json && isFancy && this.#stderr.isTerminal;
    this.notePaint = createPaint(colours(this.#stderr));
  }

  /** Maximum width of a line; undefined if there is no limit. */
  get columns(): number | undefined {
    return this.#stdout.isTerminal ? this.#stdout.columns || DEFAULT_COLUMNS : undefined;
  }

  /** Maximum width of a note; undefined if there is no limit. */
  get noteColumns(): number | undefined {
    return this.#stderr.isTerminal ? this.#stderr.columns || DEFAULT_COLUMNS : undefined;
  }

  get rows(): number {
    return this.#stdout.rows || DEFAULT_ROWS;
  }

  /** Prints the command's result: a document with `--json`, otherwise text. */
  answer(document: unknown, human: () => string): void {
    if (this.#signal.aborted) return;
    if (this.json) this.#document(document);
    else this.line(human());
  }

  /** Prints why there is no result: a document with `--json`, otherwise text on stderr. */
  failure(document: unknown, human: () => string): void {
    if (this.json) this.#document(document);
    else this.note(human());
  }

  /** Prints one or more lines of a result for people; nothing with `--json`. */
  line(text: string): void {
    if (!this.json && !this.#signal.aborted)
      this.write(`${this.drawable(this.#stdout.isTerminal ? forTerminal(text) : text)}\n`);
  }

  /** Replaces symbols that the locale cannot show. */
  drawable(text: string, columns: number | undefined = this.columns): string {
    return this.#isAscii ? inAscii(text, columns) : text;
  }

  /** True if prompts may be drawn with frames and symbols. A terminal of width 0 would get one character per line. */
  get canDraw(): boolean {
    if (this.#isAscii) return false;
    return this.asksOnStderr
      ? this.#isFancy && process.stderr.columns !== 0
      : this.live && process.stdout.columns !== 0;
  }

  /** Where a call's approvals and elicitations are shown: on stderr if stdout is not for people. Computed on demand. */
  get questions(): QuestionPlace {
    this.#questions ??= questionPlace({
      stdin: isTerminal(STDIN),
      stdout: this.#stdout.isTerminal,
      stderr: this.#stderr.isTerminal,
      json: this.json,
    });
    return this.#questions;
  }

  get asksOnStderr(): boolean {
    return 'on' in this.questions && this.questions.on === 'stderr';
  }

  /** Prints one line of a question. */
  question(text: string): void {
    if (this.asksOnStderr) this.note(text);
    else this.line(text);
  }

  /** Colours for questions. */
  get questionPaint(): Paint {
    return this.asksOnStderr ? this.notePaint : this.paint;
  }

  /** Prints a tool's text: unchanged to a pipe or file; on a terminal, with a line end if it has none. */
  text(text: string): void {
    if (this.#stdout.isTerminal) this.line(text.replace(/\r?\n$/, ''));
    else if (!this.json && !this.#signal.aborted) this.write(text);
  }

  /** Writes text to stdout unchanged. */
  write(text: string): void {
    if (!this.#readerGone) this.#stdout.write(text);
  }

  /** Prints diagnostics and progress. */
  note(text: string): void {
    const shown = this.#stderr.isTerminal ? forTerminal(text) : text;
    this.#stderr.write(`${this.drawable(shown, this.noteColumns)}\n`);
  }

  /** Prints a note that a person should see although the command succeeds. */
  remark(text: string): void {
    this.note(`${this.notePaint.warn('note:')} ${text}`);
  }

  /** Writes text to stderr without a line end, for lines that are redrawn. */
  noteInPlace(text: string): void {
    this.#stderr.write(this.drawable(text, this.noteColumns));
  }

  #document(document: unknown): void {
    this.write(`${visibleJson(JSON.stringify(document, null, 2))}\n`);
  }

  /** Resolves when all output is written: exiting earlier would lose the last bytes of a pipe. */
  async drained(): Promise<void> {
    await Promise.all([this.#stdout.flushed(), this.#stderr.flushed()]);
  }
}

/** `FORCE_COLOR` takes precedence, as in Node: 0 and false disable colours, others enable them, in pipes too. */
function forcedColour({ FORCE_COLOR: forced }: NodeJS.ProcessEnv): boolean | undefined {
  return forced === undefined ? undefined : forced !== '0' && forced !== 'false';
}

/** Replaces single carriage returns, with which text could overwrite its own line. */
export function forTerminal(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

/** Terminal colours by meaning: good, bad, warning, and less important text. */
export interface Paint {
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  faint(text: string): string;
  strong(text: string): string;
}

const same = (text: string): string => text;

const plain: Paint = { good: same, bad: same, warn: same, faint: same, strong: same };

const sgr =
  (open: number, close: number) =>
  (text: string): string =>
    `\u001b[${open}m${text}\u001b[${close}m`;

const coloured: Paint = {
  good: sgr(32, 39),
  bad: sgr(31, 39),
  warn: sgr(33, 39),
  faint: sgr(2, 22),
  strong: sgr(1, 22),
};

function createPaint(colour: boolean): Paint {
  return colour ? coloured : plain;
}

const ASCII: Readonly<Record<string, string>> = {
  '✔': '+',
  '✖': 'x',
  '·': '-',
  '•': '*',
  '→': '->',
  '│': '|',
  '━': '=',
  '╌': '-',
  '─': '-',
  '…': '...',
  '×': 'x',
  '–': '-',
  '—': '-',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '⠋': '|',
  '⠙': '/',
  '⠹': '-',
  '⠸': '\\',
  '⠼': '|',
  '⠴': '/',
  '⠦': '-',
  '⠧': '\\',
  '⠇': '|',
  '⠏': '/',
};

const DRAWN = new RegExp(`[${Object.keys(ASCII).join('')}]`, 'g');
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are not counted
const COLOURS = /\u001b\[[\d;?]*[A-Za-z]/g;

/** False on the Linux console and if the locale names an encoding other than UTF-8; an unset locale is treated as UTF-8. */
function hasUnicode(env: NodeJS.ProcessEnv): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return env['TERM'] !== 'linux' && (locale === '' || /utf-?8/i.test(locale));
}

/** Replaces symbols with ASCII. Lines that filled the columns still fit: an ellipsis overwrites the text before it. */
function inAscii(text: string, columns: number | undefined): string {
  return text
    .split('\n')
    .map((line) => {
      const drawn = line.replace(DRAWN, (char) => ASCII[char] ?? char);
      const isTooWide = columns !== undefined && [...drawn.replace(COLOURS, '')].length > columns;
      return isTooWide ? line.replace(/..…/gu, '...').replace(DRAWN, (char) => ASCII[char] ?? char) : drawn;
    })
    .join('\n');
}
