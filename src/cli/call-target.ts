/** Parses which tool a command refers to: `<server> <tool>`, or both in one argument. */

import { knownTools } from '../catalog/known-tools.ts';
import { possibleOwners } from '../catalog/tool-names.ts';
import { PlugboardError } from '../errors.ts';
import { loadEffective } from '../policy/effective.ts';
import { joinArgv } from './argv.ts';
import type { Context } from './cli-command.ts';

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
    throw new PlugboardError('USAGE', 'The tool is missing.', {
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
  const { cwd, home, env, extra } = context;
  const { servers } = context.config ?? (await loadEffective({ cwd, home, env, extra }));
  if (servers.some(({ name }) => name === first)) return;
  const [owner, ...others] = servers.filter((spec) =>
    knownTools(home, spec).some(({ name }) => name === first),
  );
  if (owner === undefined || others.length > 0) return;
  throw new PlugboardError('USAGE', `"${first}" is a tool, and its server is missing.`, {
    hint: `Did you mean ${joinArgv(['plugboard', command, owner.name, first, ...rest])}?`,
  });
}

/** Parses `server.tool`, `server/tool` or `server__tool`; undefined for any other text, and for a server's name. */
export async function toolInOneWord(
  context: Context,
  word: string,
): Promise<Omit<CalledTool, 'words'> | undefined> {
  if (!/__|[./]/.test(word)) return undefined;
  const { cwd, home, env, extra } = context;
  const config = context.config ?? (await loadEffective({ cwd, home, env, extra }));
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
