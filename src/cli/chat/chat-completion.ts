/** Completes chat input: commands, prompts, servers, and resources to mention. */

import type { CompleterResult } from 'node:readline';
import type { Host } from '../../host/host.ts';
import { COMMANDS, MCP_ACTIONS } from './chat-commands.ts';

type CompletedHost = Pick<Host, 'prompts' | 'resources' | 'servers' | 'complete'>;

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
