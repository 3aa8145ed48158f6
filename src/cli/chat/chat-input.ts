/** Reads the person's input in a chat: lines with completion, and keys during a turn. */

import { type CompleterResult, createInterface, type Interface } from 'node:readline';
import type { Host } from '../../host/host.ts';
import { COMMANDS, MCP_ACTIONS } from './chat-commands.ts';

const MAX_HISTORY = 500;
const LEAVE_HINT = 'Press Ctrl-C again to quit (or Ctrl-D).';

type Completer = (line: string) => Promise<CompleterResult>;

/** Reads lines at the terminal, with history, completion and Ctrl-C handling. */
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

const CTRL_C = '\u0003';
/** Limit for text typed ahead; a longer paste is truncated. */
const MAX_AHEAD_CHARS = 10_000;
/** Keys that are not text: arrows, function keys, other control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const NO_TEXT = /\x1b\[?[0-?]*[ -/]*[@-~]?|[\x00-\x1f\x7f]/g;

/**
 * Reads the keyboard while a turn runs: handles Ctrl-C, which would otherwise be a signal that ends the command, and
 * collects text typed ahead.
 */
export class TurnKeys {
  readonly #onCancel: () => void;
  #ahead = '';
  readonly #listener = (bytes: Buffer): void => {
    const text = bytes.toString('utf8');
    for (const char of text) if (char === CTRL_C) this.#onCancel();
    this.#ahead = (this.#ahead + text.replace(NO_TEXT, '')).slice(0, MAX_AHEAD_CHARS);
  };

  /** `onCancel` is called for every Ctrl-C. */
  constructor(onCancel: () => void) {
    this.#onCancel = onCancel;
  }

  take(): void {
    process.stdin.setRawMode(true);
    process.stdin.on('data', this.#listener);
    process.stdin.resume();
  }

  /** Releases the keyboard, for questions that read it themselves and at the end. */
  give(): void {
    process.stdin.off('data', this.#listener);
    process.stdin.setRawMode(false);
    process.stdin.pause();
  }

  /** Returns and clears the text typed during the turn; it starts the next line. */
  typed(): string {
    const typed = this.#ahead;
    this.#ahead = '';
    return typed;
  }
}

type CompletedHost = Pick<Host, 'prompts' | 'resources' | 'servers' | 'complete'>;

/** Completes chat input: commands, prompts, servers, and resources to mention. */
export async function completeLine(host: CompletedHost, line: string): Promise<CompleterResult> {
  const mention = /(?:^|\s)@(\S*)$/.exec(line);
  if (mention !== null) return completeMention(host, mention[1] ?? '');
  if (!line.startsWith('/')) return [[], line];
  const words = line.split(/\s+/);
  const last = words.at(-1) ?? '';
  if (words.length === 1) {
    const prompts = await host.prompts().catch(() => []);
    const all = [...COMMANDS.map(({ name }) => `/${name}`), ...prompts.map(({ command }) => command)];
    return [fitting(all, last), last];
  }
  if (words[0] === '/mcp') {
    const names = host.servers().map(({ name }) => name);
    return [fitting(words.length === 2 ? MCP_ACTIONS : names, last), last];
  }
  return completeArgument(host, words, last);
}

async function completeMention(host: CompletedHost, typed: string): Promise<CompleterResult> {
  const { resources } = await host.resources();
  const mentions = resources.map(({ server, uri }) => `@${server}:${uri}`);
  return [fitting(mentions, `@${typed}`), `@${typed}`];
}

/** Asks the server for values of its prompt's arguments, which are given by position. */
async function completeArgument(
  host: CompletedHost,
  words: string[],
  last: string,
): Promise<CompleterResult> {
  const prompt = (await host.prompts()).find(({ command }) => command === words[0]);
  const argument = prompt?.arguments?.[words.length - 2];
  if (prompt === undefined || argument === undefined) return [[], last];
  const { values } = await host.complete(
    { server: prompt.server, type: 'ref/prompt', name: prompt.name },
    { name: argument.name, value: last },
  );
  return [fitting(values, last), last];
}

function fitting(candidates: readonly string[], typed: string): string[] {
  return candidates.filter((candidate) => candidate.startsWith(typed));
}
