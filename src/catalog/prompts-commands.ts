/**
 * Maps prompts to slash commands and back (CAT-10).
 *
 * The names are those of `names.ts`, with its rules for foreign characters, length and collisions. Only the short form
 * differs: `/server:prompt` has a separator that neither half can contain.
 */

import type { Prompt } from './accept-lists.ts';
import { type ListedPrompt, presentPrompt } from './prompts.ts';
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
