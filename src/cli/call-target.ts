/** Parses which tool a command refers to: `<server> <tool>`, or both in one argument. */

import { knownTools } from '../catalog/known-tools.ts';
import type { Tool } from '../catalog/tool.ts';
import { plainName, possibleOwners } from '../catalog/tool-names.ts';
import type { ServerSpec } from '../config/entry.ts';
import { didYouMean } from '../config/unknown-server.ts';
import { PlugboardError } from '../errors.ts';
import { joinArgv } from '../lib/argv.ts';
import { nearest } from '../lib/nearest.ts';
import { loadEffective } from '../policy/effective.ts';
import type { Context } from './cli-command.ts';
import type { CommandHost } from './with-host.ts';

export interface CalledTool {
  /** Servers that the tool may belong to. */
  readonly servers: readonly string[];
  readonly name: string;
  /** The arguments of the call. */
  readonly words: readonly string[];
}

/** Parses `<server> <tool> …`, or `<server.tool> …` with `.`, `/` or `__`; an exact server name takes precedence. */
export async function calledTool(
  context: Context,
  args: readonly string[],
  command: 'call' | 'tool' = 'call',
): Promise<CalledTool> {
  const [first = '', second, ...rest] = args;
  const one = await toolInOneWord(context, first);
  if (one !== undefined) return { ...one, words: args.slice(1) };
  if (second === undefined || ARGUMENT.test(second)) await suggestServer(context, args, command);
  if (second === undefined) {
    throw new PlugboardError('USAGE', 'Missing argument <tool>', {
      hint: `Use: plugboard ${command} <server> <tool>, or plugboard ${command} <server.tool>.`,
    });
  }
  return { servers: [first], name: second, words: rest };
}

const ARGUMENT = /=|^--|^\{/;

/** For a tool name without a server: throws an error with the complete command if a cached server has that tool. */
async function suggestServer(
  context: Context,
  [first = '', ...rest]: readonly string[],
  command: 'call' | 'tool',
): Promise<void> {
  const { servers } = context.config ?? (await loadEffective(context));
  if (servers.some(({ name }) => name === first)) return;
  const [owner, ...others] = servers.filter((spec) =>
    knownTools(context.home, spec).some(({ name }) => name === first),
  );
  if (owner === undefined || others.length > 0) return;
  throw new PlugboardError('USAGE', `"${first}" is a tool; name its server too`, {
    hint: `Did you mean ${joinArgv(['plugboard', command, owner.name, first, ...rest])}?`,
  });
}

/** Parses `server.tool`, `server/tool` or `server__tool`; undefined for any other text, and for a server's name. */
export async function toolInOneWord(
  context: Context,
  word: string,
): Promise<Omit<CalledTool, 'words'> | undefined> {
  if (!/__|[./]/.test(word)) return undefined;
  const config = context.config ?? (await loadEffective(context));
  const names = config.servers.map(({ name }) => name);
  return names.includes(word) ? undefined : inOneWord(word, names);
}

function inOneWord(word: string, names: readonly string[]): Omit<CalledTool, 'words'> | undefined {
  const owners = word.includes('__') ? possibleOwners(word, names) : [];
  if (owners.length > 0) return { servers: owners, name: word };
  // Longest name first: one server may be called a and another a.b.
  const [server] = names
    .filter((name) => word.startsWith(`${name}.`) || word.startsWith(`${name}/`))
    .sort((a, b) => b.length - a.length);
  return server === undefined ? undefined : { servers: [server], name: word.slice(server.length + 1) };
}

/** Rejects a tool that its entry disables, naming the key that does. */
export function refuseHidden(host: Pick<CommandHost, 'inspect'>, spec: ServerSpec, name: string): void {
  const { name: server, entry } = spec;
  const { enabledTools, disabledTools } = entry;
  const hidden = host
    .inspect(server)
    .some(
      ({ state, tool }) =>
        state === 'hidden' && (tool.tool === name || plainName(server, tool.tool, 'gateway') === name),
    );
  if (!hidden) return;
  const keys = [
    ...(enabledTools === undefined ? [] : ['"enabledTools"']),
    ...(disabledTools === undefined ? [] : ['"disabledTools"']),
  ].join(' or ');
  throw new PlugboardError('UNKNOWN_TOOL', `${server} has "${name}", but its entry hides it (${keys})`, {
    server,
    hint: `To call it, change ${keys} with ${joinArgv(['plugboard', 'edit', server])}.`,
  });
}

/**
 * @param among candidate tools; several servers may have to be checked, as `a__b__c` may belong to `a` or to `a__b`.
 */
export function findTool(
  host: Pick<CommandHost, 'find'>,
  { servers, name }: Pick<CalledTool, 'servers' | 'name'>,
  among: readonly Tool[],
): Tool {
  const offered = among.filter((tool) => servers.includes(tool.server));
  const spelled = host.find(name);
  const found =
    offered.find(({ tool }) => tool === name) ??
    offered.find(({ server, tool }) => server === spelled?.server && tool === spelled.tool) ??
    offered.find((tool) => tool.name === name || plainName(tool.server, tool.tool, 'gateway') === name);
  if (found !== undefined) return found;
  const near = nearest(
    name,
    offered.flatMap(({ server, tool }) => [tool, plainName(server, tool, 'gateway')]),
  );
  const [server = ''] = servers;
  const show = `Run ${joinArgv(['plugboard', 'tools', server])} to see all of them.`;
  throw new PlugboardError('UNKNOWN_TOOL', `${server} has no tool called "${name}"`, {
    server,
    hint: near.length > 0 ? `${didYouMean(near)} ${show}` : show,
  });
}
