/** Shows a turn on the screen: the model's text as it is streamed, each call with its result, and the token counts. */

import type { Answer } from '../../adapters/answer.ts';
import type { AgentEvent, Turn } from '../../chat/agent-events.ts';
import type { Progress } from '../../connection/peer.ts';
import { sentences } from '../../lib/sentences.ts';
import { clean, oneLine } from '../../policy/clean.ts';
import { forTerminal, type Output } from '../output.ts';
import { resultText } from '../result-output.ts';
import { cut, width } from '../text-layout.ts';

const MAX_ARGUMENT_CHARS = 100;
const DEFAULT_COLUMNS = 100;
/** A mark and a space. */
const MARK_CELLS = 2;

export class Transcript {
  readonly #output: Output;
  readonly #status: StatusLine;
  readonly #running = new Map<string, string>();
  readonly #words = new StreamCleaner();
  readonly #wrap: WordWrap;

  constructor(output: Output) {
    this.#output = output;
    this.#wrap = new WordWrap(() => output.columns);
    this.#status = new StatusLine(output);
  }

  /** Writes a line that is not part of the turn: a server's state, or a command's output. */
  line(text: string): void {
    this.#status.line(text);
  }

  /** Clears the status line for a question; the next event draws it again. */
  hush(): void {
    this.#status.write(this.#wrap.flush());
    this.#status.end();
  }

  begin(): void {
    this.#status.show('thinking… (Ctrl-C stops)');
  }

  emit(event: AgentEvent): void {
    const { paint } = this.#output;
    if (event.type !== 'text' && event.type !== 'reasoning' && event.type !== 'progress')
      this.#status.write(this.#wrap.flush());
    switch (event.type) {
      case 'text':
        this.#status.write(this.#wrap.push(this.#words.push(event.text)));
        break;
      case 'reasoning':
        this.#wait();
        break;
      case 'call':
        this.#running.set(event.id, event.name);
        this.#status.line(
          `${paint.faint('→')} ${paint.strong(clean(event.name))} ${paint.faint(shown(event.arguments))}`,
        );
        this.#wait();
        break;
      case 'progress':
        this.#wait(event.name, event.progress);
        break;
      case 'result':
        this.#running.delete(event.id);
        this.#status.line(this.#result(event.answer, event.name, event.ms));
        this.#wait();
        break;
      case 'refused':
        this.#status.line(`${paint.warn('note:')} ${refusedText(event)}`);
        break;
      case 'compacted':
        this.#status.line(paint.faint(`${event.before} messages were summarized to make room.`));
        break;
      case 'unknown':
        this.#status.line(`${paint.warn('note:')} ${clean(event.what)} was not found.`);
        break;
      default:
        event satisfies never;
    }
  }

  end(turn?: Turn): void {
    this.#running.clear();
    this.#status.write(this.#wrap.flush());
    this.#status.end();
    if (turn === undefined) return;
    const { paint } = this.#output;
    if (turn.finish === 'length')
      this.#status.line(paint.warn('The answer was cut off: the model reached its output limit.'));
    if (turn.finish === 'refused') this.#status.line(paint.warn('The provider blocked the answer.'));
    if (turn.finish === 'steps')
      this.#status.line(paint.warn('The turn reached its limit of steps. Type "continue" to go on.'));
    this.#status.line(paint.faint(costLine(turn)));
  }

  #result(answer: Answer, name: string, ms: number): string {
    const { paint } = this.#output;
    const [mark, words] = answer.isError
      ? [paint.bad('✖'), errorText(answer)]
      : [paint.good('✔'), resultText(answer)];
    const [first = ''] = words.split('\n').filter((line) => line.trim() !== '');
    const cutAway =
      answer.truncated === undefined ? '' : ` (cut: ${answer.truncated.tokens.toLocaleString('en')} tokens)`;
    const about = `${oneLine(name)} ${Math.round(ms)} ms${cutAway}`;
    const room = (this.#output.columns ?? DEFAULT_COLUMNS) - MARK_CELLS - about.length - 2;
    return `${mark} ${about}  ${paint.faint(cut(first, Math.max(room, 0)))}`;
  }

  #wait(name?: string, progress?: Progress): void {
    if (progress !== undefined && name !== undefined) {
      const of = progress.total === undefined ? '' : `/${progress.total}`;
      const message = progress.message === undefined ? '' : ` ${oneLine(progress.message)}`;
      this.#status.show(`${clean(name)} ${progress.progress}${of}${message}`);
    } else if (this.#running.size > 0) {
      this.#status.show(
        `running ${[...this.#running.values()].map((each) => clean(each)).join(', ')} (Ctrl-C cancels)`,
      );
    } else {
      this.#status.show('thinking… (Ctrl-C stops)');
    }
  }
}

/** `1,204 tokens in, 88 out · 3 calls · search saved about 14,300 tokens of definitions`. */
export function costLine({ usage, calls, saved }: Turn): string {
  const number = (value: number): string => value.toLocaleString('en');
  return [
    `${number(usage.inputTokens)} tokens in, ${number(usage.outputTokens)} out`,
    ...(calls === 0 ? [] : [`${number(calls)} ${calls === 1 ? 'call' : 'calls'}`]),
    ...(saved === 0 ? [] : [`search saved about ${number(saved)} tokens of definitions`]),
  ].join(' · ');
}

export function errorText({ error, content }: Answer): string {
  return error === undefined ? resultText({ content }) : oneLine(sentences(error.message, error.hint));
}

/** Returns how to allow a refused call, for the person; not sent to the model. */
export function refusedText({ name, advice }: Extract<AgentEvent, { type: 'refused' }>): string {
  return oneLine(`to allow ${name}, ${advice}.`);
}

function shown(args: unknown): string {
  return clean(JSON.stringify(args) ?? '', { multiline: false, max: MAX_ARGUMENT_CHARS });
}

const CLEAR_LINE = '\r\u001b[2K';

/** Draws the status line at the bottom while a turn runs; all other text is written above it. */
class StatusLine {
  readonly #output: Output;
  #text = '';
  #isShown = false;
  /** True if the last text did not end with a newline. */
  #isMidLine = false;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Writes text of the transcript as it arrives. */
  write(text: string): void {
    if (text === '') return;
    this.#clear();
    this.#output.write(text);
    this.#isMidLine = !text.endsWith('\n');
    this.#draw();
  }

  /** Writes a line of its own. */
  line(text: string): void {
    this.write(`${this.#isMidLine ? '\n' : ''}${text}\n`);
  }

  /** Sets the text of the status line; '' removes it. */
  show(text: string): void {
    if (text === this.#text) return;
    this.#clear();
    this.#text = text;
    this.#draw();
  }

  /** Removes the status line and leaves the cursor on an empty line. */
  end(): void {
    this.show('');
    if (this.#isMidLine) this.write('\n');
  }

  #clear(): void {
    if (this.#isShown) this.#output.write(CLEAR_LINE);
    this.#isShown = false;
  }

  /** Not drawn in the middle of a line; it is drawn again after the next newline. */
  #draw(): void {
    if (this.#text === '' || this.#isMidLine || !this.#output.live) return;
    const { columns, paint } = this.#output;
    this.#output.write(paint.faint(columns === undefined ? this.#text : cut(this.#text, columns - 1)));
    this.#isShown = true;
  }
}

/** A longer word is shown before it is complete. */
const MAX_WORD_CHARS = 200;
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
    const isHeld = all.length - end <= MAX_WORD_CHARS;
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

/** Limit for held text: a longer sequence is not an escape sequence. */
const MAX_SEQUENCE_CHARS = 64;
/** Matches an incomplete escape sequence, surrogate pair or line end at the end of the text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const UNFINISHED = /(?:[\x1b\x9b][^@-Z\\^-~]*|\x1b\[[0-?]*[ -/]*|[\ud800-\udbff]|\r)$/;

/** Removes escape sequences from streamed text; the sender may split a sequence at any character. */
export class StreamCleaner {
  #held = '';

  push(text: string): string {
    const all = this.#held + text;
    const at = UNFINISHED.exec(all)?.index ?? all.length;
    const isHeld = all.length - at <= MAX_SEQUENCE_CHARS;
    this.#held = isHeld ? all.slice(at) : '';
    return forTerminal(clean(isHeld ? all.slice(0, at) : all));
  }
}
