/** Terminal prompts in two forms: drawn in place if the terminal supports it, else in plain lines. */

import type { Output } from './output.ts';

/** Returned if the person cancels: Ctrl-C, Escape, or the end of the input. */
export const CANCELLED: unique symbol = Symbol('cancelled');

export type Answer<T> = T | typeof CANCELLED;

interface Asked {
  readonly message: string;
  readonly signal?: AbortSignal | undefined;
}

export interface Choice<T extends string = string> {
  readonly value: T;
  readonly label: string;
}

export interface Prompter {
  confirm(question: Asked & { readonly initial?: boolean | undefined }): Promise<Answer<boolean>>;
  /** `fault` returns one sentence if the answer is invalid; the question is then asked again. */
  text(
    question: Asked & {
      readonly initial?: string | undefined;
      readonly fault?: ((value: string) => string | undefined) | undefined;
    },
  ): Promise<Answer<string>>;
  /** Asks for one line that is hidden while it is typed. */
  secret(question: Asked): Promise<Answer<string>>;
  choice<T extends string>(
    question: Asked & { readonly choices: readonly Choice<T>[]; readonly initial?: T | undefined },
  ): Promise<Answer<T>>;
  choices<T extends string>(
    question: Asked & {
      readonly choices: readonly Choice<T>[];
      readonly initial?: readonly T[] | undefined;
      readonly required: boolean;
    },
  ): Promise<Answer<readonly T[]>>;
}

/** Opens the prompter that fits the terminal; the prompt library is loaded on demand. */
export async function openPrompter({
  canDraw,
  asksOnStderr,
}: Pick<Output, 'canDraw' | 'asksOnStderr'>): Promise<Prompter> {
  if (!canDraw) return plainPrompter();
  return drawnPrompter(await import('@clack/prompts'), asksOnStderr ? process.stderr : process.stdout);
}

type Prompts = typeof import('@clack/prompts');

/** Prompts drawn in place by the prompt library. `output`: the stream to draw on. */
function drawnPrompter(prompts: Prompts, output: NodeJS.WriteStream): Prompter {
  const given = <T>(answer: T): Answer<Exclude<T, symbol>> =>
    prompts.isCancel(answer) ? CANCELLED : (answer as Exclude<T, symbol>);
  const until = (signal: AbortSignal | undefined): { output: NodeJS.WriteStream; signal?: AbortSignal } => ({
    output,
    ...(signal === undefined ? {} : { signal }),
  });
  return {
    async confirm({ message, initial = true, signal }) {
      return given(await prompts.confirm({ message, initialValue: initial, ...until(signal) }));
    },
    async text({ message, initial, fault, signal }) {
      const answer = await prompts.text({
        message,
        ...(initial === undefined ? {} : { initialValue: initial }),
        ...(fault === undefined ? {} : { validate: (value = '') => fault(value) }),
        ...until(signal),
      });
      return given(answer ?? '');
    },
    async secret({ message, signal }) {
      return given((await prompts.password({ message, ...until(signal) })) ?? '');
    },
    async choice<T extends string>({ message, choices, initial, signal }: Parameters<Prompter['choice']>[0]) {
      const answer = await prompts.select<string>({
        message,
        options: [...choices],
        ...(initial === undefined ? {} : { initialValue: initial }),
        ...until(signal),
      });
      return given(answer) as Answer<T>;
    },
    async choices<T extends string>({
      message,
      choices,
      initial,
      required,
      signal,
    }: Parameters<Prompter['choices']>[0]) {
      const answer = await prompts.multiselect<string>({
        message,
        options: [...choices],
        required,
        ...(initial === undefined ? {} : { initialValues: initial }),
        ...until(signal),
      });
      return given(answer) as Answer<readonly T[]>;
    },
  };
}

/** Prompts in plain lines, for terminals that cannot redraw (`TERM=dumb`) or users who disabled colours. */
function plainPrompter(): Prompter {
  return {
    async confirm({ message, initial = true, signal }) {
      for (;;) {
        const line = await ask(`${message} ${initial ? '[Y/n]' : '[y/N]'} `, signal);
        if (line === CANCELLED) return line;
        const word = line.trim().toLowerCase();
        if (word === '') return initial;
        if (word === 'y' || word === 'yes') return true;
        if (word === 'n' || word === 'no') return false;
        print('Enter y or n.');
      }
    },
    async text({ message, initial, fault, signal }) {
      const shown = initial === undefined || initial === '' ? '' : ` [${initial}]`;
      for (;;) {
        const line = await ask(`${message}${shown}: `, signal);
        if (line === CANCELLED) return line;
        const value = line === '' ? (initial ?? '') : line;
        const wrong = fault?.(value);
        if (wrong === undefined) return value;
        print(wrong);
      }
    },
    secret: ({ message, signal }) => ask(`${message}: `, signal, true),
    async choice({ message, choices, initial, signal }) {
      const at = choices.findIndex(({ value }) => value === initial);
      print([message, ...choices.map(numbered)].join('\n'));
      for (;;) {
        const line = await ask(`Number${at < 0 ? '' : ` [${at + 1}]`}: `, signal);
        if (line === CANCELLED) return line;
        const chosen = chosenOf(choices, line.trim() === '' && at >= 0 ? String(at + 1) : line.trim());
        if (chosen !== undefined) return chosen.value;
        print(`Enter a number from 1 to ${choices.length}.`);
      }
    },
    async choices({ message, choices, initial = [], required, signal }) {
      print([message, ...choices.map(numbered)].join('\n'));
      for (;;) {
        const line = await ask('Numbers, separated by commas: ', signal);
        if (line === CANCELLED) return line;
        const words = line.split(/[\s,]+/).filter((word) => word !== '');
        const chosen = words.map((word) => chosenOf(choices, word)?.value);
        if (words.length === 0 && (!required || initial.length > 0)) return initial;
        if (words.length > 0 && !chosen.includes(undefined)) {
          return choices.map(({ value }) => value).filter((value) => chosen.includes(value));
        }
        print(`Enter numbers from 1 to ${choices.length}.`);
      }
    },
  };
}

function numbered({ label }: Choice, at: number): string {
  return `  ${at + 1}. ${label}`;
}

/** Finds a choice by its number or its text. */
function chosenOf<T extends string>(choices: readonly Choice<T>[], word: string): Choice<T> | undefined {
  return choices[Number(word) - 1] ?? choices.find(({ value, label }) => value === word || label === word);
}

function print(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Reads one line; `isSecret` hides the typed text. */
function ask(question: string, signal: AbortSignal | undefined, isSecret = false): Promise<Answer<string>> {
  // Loaded here, because most commands that may ask do not.
  const { createInterface } = process.getBuiltinModule('node:readline');
  const { Writable } = process.getBuiltinModule('node:stream');
  const screen = new Writable({
    write(chunk, _encoding, done) {
      if (!isSecret) process.stderr.write(chunk);
      done();
    },
  });
  // Hiding a secret requires reading key by key, from before the first key is typed.
  const lines = createInterface({ input: process.stdin, output: screen, terminal: isSecret });
  process.stderr.write(question);
  return new Promise((resolve) => {
    const end = (answer: Answer<string>): void => {
      signal?.removeEventListener('abort', giveUp);
      resolve(answer);
      lines.close();
      if (isSecret || answer === CANCELLED) process.stderr.write('\n');
    };
    const giveUp = (): void => end(CANCELLED);
    lines.once('line', end);
    lines.once('close', giveUp);
    lines.once('SIGINT', giveUp);
    signal?.addEventListener('abort', giveUp, { once: true });
    if (signal?.aborted) giveUp();
  });
}
