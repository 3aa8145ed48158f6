/** Splits a command line into arguments as a shell does, and joins arguments into a command line. */

import { PlugboardError } from '../errors.ts';
import { shellWord } from './shell-word.ts';

/** Splits at spaces outside quotes. Quotes and backslashes group; nothing is expanded or executed. */
export function splitArgv(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: '"' | "'" | undefined;
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (quote === undefined && (char === ' ' || char === '\t' || char === '\n')) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (quote === undefined && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (char === quote) {
      quote = undefined;
    } else if (char === '\\' && quote !== "'" && at + 1 < line.length) {
      const next = line.charAt(at + 1);
      // Inside double quotes a backslash only escapes a quote or a backslash.
      const escapes = quote === undefined || next === '"' || next === '\\';
      word = (word ?? '') + (escapes ? next : `\\${next}`);
      at++;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote !== undefined) {
    throw new PlugboardError('USAGE', `A quote (${quote}) is not closed in: ${line}`, {
      hint: 'Close the quote, or put a backslash before it.',
    });
  }
  if (word !== undefined) words.push(word);
  return words;
}

/** Returns a command line that can be pasted into a shell. */
export function joinArgv(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}
