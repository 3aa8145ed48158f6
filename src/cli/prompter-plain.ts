/** Prompts in plain lines, for terminals that cannot redraw (`TERM=dumb`) or users who disabled colours. */

import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { type Answer, CANCELLED, type Choice, type Prompter } from './prompter.ts';

export function plainPrompter(): Prompter {
  return {
    async confirm({ message, initial = true, signal }) {
      for (;;) {
        const line = await ask(`${message} ${initial ? '[Y/n]' : '[y/N]'} `, signal);
        if (line === CANCELLED) return line;
        const word = line.trim().toLowerCase();
        if (word === '') return initial;
        if (word === 'y' || word === 'yes') return true;
        if (word === 'n' || word === 'no') return false;
        say('Answer y or n.');
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
        say(wrong);
      }
    },
    secret: ({ message, signal }) => ask(`${message}: `, signal, true),
    async choice({ message, choices, initial, signal }) {
      const at = choices.findIndex(({ value }) => value === initial);
      say([message, ...choices.map(numbered)].join('\n'));
      for (;;) {
        const line = await ask(`Number${at < 0 ? '' : ` [${at + 1}]`}: `, signal);
        if (line === CANCELLED) return line;
        const chosen = chosenOf(choices, line.trim() === '' && at >= 0 ? String(at + 1) : line.trim());
        if (chosen !== undefined) return chosen.value;
        say(`Answer a number from 1 to ${choices.length}.`);
      }
    },
    async choices({ message, choices, initial = [], required, signal }) {
      say([message, ...choices.map(numbered)].join('\n'));
      for (;;) {
        const line = await ask('Numbers, with commas between them: ', signal);
        if (line === CANCELLED) return line;
        const words = line.split(/[\s,]+/).filter((word) => word !== '');
        const chosen = words.map((word) => chosenOf(choices, word)?.value);
        if (words.length === 0 && (!required || initial.length > 0)) return initial;
        if (words.length > 0 && !chosen.includes(undefined)) {
          return choices.map(({ value }) => value).filter((value) => chosen.includes(value));
        }
        say(`Answer numbers from 1 to ${choices.length}.`);
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

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Reads one line; `isSecret` hides the typed text. */
function ask(question: string, signal: AbortSignal | undefined, isSecret = false): Promise<Answer<string>> {
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
