/**
 * Maps prompts to slash commands and back, and parses their arguments (CAT-10).
 *
 * The names are those of `tool-names.ts`, with its rules for foreign characters, length and collisions. Only the short form
 * differs: `/server:prompt` has a separator that neither half can contain.
 */

import { PlugboardError } from '../errors.ts';
import { nearest } from '../lib/nearest.ts';
import { shownName } from '../policy/clean.ts';
import type { Prompt } from './accept-lists.ts';
import { type ListedPrompt, presentPrompt, requireArguments, usage } from './prompts.ts';
import { assignNames, type Naming, plainName } from './tool-names.ts';

/** Length of a server name's beginning that every command keeps; `names.ts` keeps more. */
const KEPT_SERVER_CHARS = 16;

/** A prompt and the server that lists it. */
export interface PromptOf {
  readonly server: string;
  readonly item: Prompt;
}

/** Returns all prompts with their commands, in the given order. */
export function withCommands(prompts: readonly PromptOf[], naming: Naming): ListedPrompt[] {
  const table = assignNames(
    prompts.map(({ server, item }) => ({ server, tool: item.name })),
    'mcp__',
  );
  return prompts.flatMap(({ server, item }) => {
    const name = table.nameOf(server, item.name);
    if (name === undefined) return [];
    const command = naming === 'short' ? shortCommand(server, item.name, name) : `/${name}`;
    return [presentPrompt(command, server, item)];
  });
}

/** True if a command could be a prompt of this server; lists of servers that cannot match are not loaded. */
export function mayBeOf(command: string, server: string, naming: Naming): boolean {
  return command.startsWith(`${naming === 'short' ? '/' : '/mcp__'}${keptOf(server)}`);
}

/** True if prompts of these two servers could get the same command. */
export function mayCollide(one: string, other: string): boolean {
  const [a, b] = [keptOf(one), keptOf(other)];
  return a.startsWith(b) || b.startsWith(a);
}

/** Returns the prompt command at the start of a text, known or not; other text with a slash is not a command. */
export function commandIn(text: string, naming: Naming): string | undefined {
  const pattern = naming === 'short' ? /^\/[\w-]+:[\w-]+(?=\s|$)/ : /^\/mcp__[\w-]+(?=\s|$)/;
  return pattern.exec(text)?.[0];
}

function shortCommand(server: string, prompt: string, name: string): string {
  const plain = `/${safe(server)}:${safe(prompt)}`;
  if (name === plainName(server, prompt, 'mcp__')) return plain;
  // A name that is not plain ends in a hash, which makes this command unique too.
  return `${plain}${name.slice(name.lastIndexOf('_'))}`;
}

function keptOf(server: string): string {
  return safe(server).slice(0, KEPT_SERVER_CHARS);
}

function safe(part: string): string {
  return plainName(part, '', 'mcp__').slice('mcp__'.length, -'__'.length);
}

// Arguments: shell-like tokens, assigned to prompt arguments by position or name.

interface Word {
  readonly text: string;
  /** Index of the first `=`, if neither it nor the text before it was quoted. */
  readonly equals: number | undefined;
}

/**
 * Parses the arguments of a prompt from a line.
 *
 * @example
 * readArguments(review, 'a.md "two words" style=terse'); // { file: 'a.md', focus: 'two words', style: 'terse' }
 */
export function readArguments(prompt: ListedPrompt, line: string): Record<string, string> {
  const names = (prompt.arguments ?? []).map(({ name }) => name);
  const args = new Map<string, string>();
  const byPosition: string[] = [];
  for (const { text, equals } of splitArgv(prompt, line)) {
    const name = equals === undefined ? undefined : text.slice(0, equals);
    if (name === undefined || equals === undefined || !names.includes(name)) {
      if (name !== undefined) refuseSlip(prompt, name, names);
      byPosition.push(text);
    } else if (args.has(name)) {
      throw wrong(prompt, `was given ${shownName(name)} twice`, `Give each argument once.`);
    } else args.set(name, text.slice(equals + 1));
  }
  const free = names.filter((name) => !args.has(name));
  if (byPosition.length > free.length) {
    const many = `${byPosition.length + args.size} given`;
    throw wrong(
      prompt,
      names.length === 0 ? 'takes no arguments' : `takes ${usage(prompt)}, with ${many}`,
      'Put text with spaces in quotes.',
    );
  }
  for (const [at, text] of byPosition.entries()) args.set(free[at] ?? '', text);
  const found = Object.fromEntries(args);
  requireArguments(prompt.server, prompt, found);
  return found;
}

/** Throws for a likely typo: `stlye=terse` is one; `x=1` for a prompt without an x is text. */
function refuseSlip(prompt: ListedPrompt, name: string, names: readonly string[]): void {
  const [close] = nearest(name, names);
  if (close === undefined) return;
  const hint = `Did you mean ${shownName(close)}=…? In quotes it is taken as text.`;
  throw wrong(prompt, `has no argument ${shownName(name)}`, hint);
}

/** Splits a line into tokens; quotes and backslashes group, nothing is expanded. */
function splitArgv(prompt: ListedPrompt, line: string): Word[] {
  const words: Word[] = [];
  let text: string | undefined;
  let equals: number | undefined;
  let plain = true;
  let quote: string | undefined;
  const end = (): void => {
    if (text !== undefined) words.push({ text, equals });
    text = undefined;
    equals = undefined;
    plain = true;
  };
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at);
    if (quote === undefined && /\s/.test(char)) end();
    else if (quote === undefined && (char === '"' || char === "'")) {
      quote = char;
      plain = false;
      text ??= '';
    } else if (char === quote) quote = undefined;
    else if (char === '\\' && quote !== "'" && at + 1 < line.length) {
      at += 1;
      const next = line.charAt(at);
      // Inside double quotes a backslash escapes only quotes and backslashes.
      text = (text ?? '') + (quote === undefined || next === '"' || next === '\\' ? next : `\\${next}`);
      plain = false;
    } else {
      if (char === '=' && plain && equals === undefined) equals = (text ?? '').length;
      text = (text ?? '') + char;
    }
  }
  if (quote !== undefined) {
    throw wrong(
      prompt,
      `was given a quote (${quote}) that is not closed`,
      'Close it, or put a backslash before it.',
    );
  }
  end();
  return words;
}

function wrong(prompt: ListedPrompt, what: string, hint: string): PlugboardError {
  return new PlugboardError('INVALID_ARGUMENTS', `${prompt.command} ${what}`, {
    server: prompt.server,
    hint,
  });
}
