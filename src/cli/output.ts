/** The two streams of the command: results on stdout (one JSON document with `--json`), everything else on stderr. */

import { type QuestionPlace, questionPlace } from '../lib/question-place.ts';
import { isTerminal, Sink, type TextSink } from '../lib/sink.ts';
import { visibleJson } from '../policy/clean.ts';
import { hasUnicode, inAscii } from './ascii.ts';
import { createPaint, type Paint } from './paint.ts';

/** Width for tables when the terminal does not say. */
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;

export interface OutputOptions {
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** Once it is aborted only the failure is told: what was under way has no answer any more. */
  readonly signal: AbortSignal;
  /** Called once when stdout takes nothing more: its reader went away (`plugboard list | head -1`), or the disk is full. */
  readonly onReaderGone: (error: Error) => void;
  /** Where it goes instead, when the command runs for somebody else's terminal; nobody can be asked there. */
  readonly elsewhere?:
    | {
        readonly stdout: TextSink;
        readonly stderr: TextSink;
        /** Why no one can be asked at that terminal either. */
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
  /** Lines may be redrawn in place. */
  readonly live: boolean;
  /** Notes may be redrawn in place. */
  readonly liveNotes: boolean;
  /** A person is there to be asked. */
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

  /** Columns that a line may take, or undefined when nothing has to fit. */
  get columns(): number | undefined {
    return this.#stdout.isTerminal ? this.#stdout.columns || DEFAULT_COLUMNS : undefined;
  }

  /** The same for notes. */
  get noteColumns(): number | undefined {
    return this.#stderr.isTerminal ? this.#stderr.columns || DEFAULT_COLUMNS : undefined;
  }

  get rows(): number {
    return this.#stdout.rows || DEFAULT_ROWS;
  }

  /** The answer of the command: a document with `--json`, text for people without. */
  answer(document: unknown, human: () => string): void {
    if (this.#signal.aborted) return;
    if (this.json) this.#document(document);
    else this.line(human());
  }

  /** Why there is no answer: the document with `--json`, else text on stderr. */
  failure(document: unknown, human: () => string): void {
    if (this.json) this.#document(document);
    else this.note(human());
  }

  /** One or more lines of a result for people; nothing with `--json`. */
  line(text: string): void {
    if (!this.json && !this.#signal.aborted)
      this.write(`${this.drawable(this.#stdout.isTerminal ? forTerminal(text) : text)}\n`);
  }

  /** Text with marks that the locale can show. */
  drawable(text: string, columns: number | undefined = this.columns): string {
    return this.#isAscii ? inAscii(text, columns) : text;
  }

  /** Whether questions may be drawn with frames and marks; a terminal without a size gets one character a line. */
  get canDraw(): boolean {
    if (this.#isAscii) return false;
    return this.asksOnStderr
      ? this.#isFancy && process.stderr.columns !== 0
      : this.live && process.stdout.columns !== 0;
  }

  /** Where questions about and during a call are put: on stderr where stdout is not for people. Found when needed. */
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

  /** A line of a question. */
  question(text: string): void {
    if (this.asksOnStderr) this.note(text);
    else this.line(text);
  }

  /** Colours for questions. */
  get questionPaint(): Paint {
    return this.asksOnStderr ? this.notePaint : this.paint;
  }

  /** What a tool said: exactly that into a pipe or file; a terminal gets a line end if it has none. */
  text(text: string): void {
    if (this.#stdout.isTerminal) this.line(text.replace(/\r?\n$/, ''));
    else if (!this.json && !this.#signal.aborted) this.write(text);
  }

  /** Bytes to stdout as they are. */
  write(text: string): void {
    if (!this.#readerGone) this.#stdout.write(text);
  }

  /** Diagnostics and progress. */
  note(text: string): void {
    const shown = this.#stderr.isTerminal ? forTerminal(text) : text;
    this.#stderr.write(`${this.drawable(shown, this.noteColumns)}\n`);
  }

  /** Text to stderr as it is, for what is redrawn. */
  noteInPlace(text: string): void {
    this.#stderr.write(this.drawable(text, this.noteColumns));
  }

  #document(document: unknown): void {
    this.write(`${visibleJson(JSON.stringify(document, null, 2))}\n`);
  }

  /** Resolves when everything is handed over: exiting earlier would cut a pipe's last bytes. */
  async drained(): Promise<void> {
    await Promise.all([this.#stdout.flushed(), this.#stderr.flushed()]);
  }
}

/** `FORCE_COLOR` decides alone, as in Node: 0 and false switch colours off, all else on, in pipes too. */
function forcedColour({ FORCE_COLOR: forced }: NodeJS.ProcessEnv): boolean | undefined {
  return forced === undefined ? undefined : forced !== '0' && forced !== 'false';
}

/** A line end of one carriage return would let a text overwrite the line that it is in. */
export function forTerminal(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}
