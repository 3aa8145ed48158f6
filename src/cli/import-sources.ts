/** Finds the sources of `import`: agents by name, and files in the format of any agent. */

import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { readDocument } from '../config/document.ts';
import { AGENTS, agentCalled } from '../config/import/agents.ts';
import { knownFile, recognise } from '../config/import/any-file.ts';
import { type Found, findForeign, readDocumentOf } from '../config/import/find.ts';
import type { Agent, Where } from '../config/import/foreign-agent.ts';
import { PlugboardError } from '../errors.ts';
import type { Context } from './cli-command.ts';

export interface Sources {
  readonly found: Found;
  readonly agents: readonly Agent[];
}

/** @throws PlugboardError USAGE for an argument that is neither an agent nor a file with servers */
export async function findSources(
  { cwd }: Context,
  words: readonly string[],
  where: Where,
): Promise<Sources> {
  if (words.length === 0) return { found: await findForeign(AGENTS, where), agents: AGENTS };
  const isFile = (word: string): boolean => /[\\/.]/.test(word) || isThere(resolve(cwd, word));
  const agents = [...new Set(words.filter((word) => !isFile(word)).map(agentCalled))];
  const files = await Promise.all(words.filter(isFile).map((word) => readSource(resolve(cwd, word), where)));
  const parts = [...files.map(({ found }) => found), await findForeign(agents, where)];
  return {
    found: {
      files: parts.flatMap((part) => part.files),
      servers: parts.flatMap((part) => part.servers),
      inputs: parts.flatMap((part) => part.inputs),
      problems: parts.flatMap((part) => part.problems),
    },
    agents: [...agents, ...files.map(({ agent }) => agent)],
  };
}

async function readSource(path: string, where: Where): Promise<{ found: Found; agent: Agent }> {
  if (!isThere(path)) {
    throw new PlugboardError('USAGE', `There is no file ${path}.`, {
      hint: 'Name a file with servers, or an agent; plugboard import --help lists them.',
    });
  }
  const known = knownFile(realpathSync(path), where);
  const format = known?.file.format ?? (path.endsWith('.toml') ? 'toml' : 'json');
  const { parseToml } = format === 'toml' ? await import('../config/import/toml.ts') : {};
  const document = await readDocument(path, parseToml);
  const [broken] = document.problems;
  if (document.value === undefined && broken !== undefined) {
    const place = [path, broken.line, broken.column].filter((part) => part !== undefined).join(':');
    throw new PlugboardError('CONFIG_INVALID', `${place}: ${broken.message}`);
  }
  // A file that does not belong to an agent is imported into local scope, the default of `add`.
  const recognised = known ?? recognise(document.value, { path, format, scope: 'local' });
  if (recognised === undefined) {
    throw new PlugboardError('USAGE', `${path} has no servers in a format that is known.`, {
      hint: 'They stand under "mcpServers", "servers", "mcp", "context_servers", or in TOML under mcp_servers.',
    });
  }
  const { agent, file } = recognised;
  return { agent, found: readDocumentOf(agent, { ...file, path }, document, where) };
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
