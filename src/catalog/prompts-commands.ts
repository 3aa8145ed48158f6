/**
 * What prompts are called as commands, and the exact way back from a command to its prompt (CAT-10).
 *
 * The names are those of `names.ts`, with its rules for foreign characters, length and collisions. Only the
 * short form differs: `/server:prompt` has a separator that no half can hold.
 */

import type { Prompt } from './accept-lists.ts';
import { assignNames, type Naming, plainName } from './names.ts';
import { type ListedPrompt, presentPrompt } from './prompts.ts';

/** The beginning of a server's name that a command keeps however long it is; `names.ts` keeps more than this. */
const KEPT_SERVER_CHARS = 16;

/** A prompt together with the server that lists it. */
export interface PromptOf {
  readonly server: string;
  readonly item: Prompt;
}

/** All prompts with their commands, in the order they were given. */
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

/** Whether a prompt of this server could be meant: what nobody else could be called needs nobody else's list. */
export function mayBeOf(command: string, server: string, naming: Naming): boolean {
  return command.startsWith(`${naming === 'short' ? '/' : '/mcp__'}${keptOf(server)}`);
}

/** Whether prompts of these two could want the same command. */
export function mayCollide(one: string, other: string): boolean {
  const [a, b] = [keptOf(one), keptOf(other)];
  return a.startsWith(b) || b.startsWith(a);
}

/** Whether a text begins like a command for a prompt, known or not; everything else with a slash is text. */
export function commandIn(text: string, naming: Naming): string | undefined {
  const pattern = naming === 'short' ? /^\/[\w-]+:[\w-]+(?=\s|$)/ : /^\/mcp__[\w-]+(?=\s|$)/;
  return pattern.exec(text)?.[0];
}

function shortCommand(server: string, prompt: string, name: string): string {
  const plain = `/${safe(server)}:${safe(prompt)}`;
  if (name === plainName(server, prompt, 'mcp__')) return plain;
  // A name that is not plain ends in a hash, which tells this prompt from its namesakes here too.
  return `${plain}${name.slice(name.lastIndexOf('_'))}`;
}

function keptOf(server: string): string {
  return safe(server).slice(0, KEPT_SERVER_CHARS);
}

function safe(part: string): string {
  return plainName(part, '', 'mcp__').slice('mcp__'.length, -'__'.length);
}
