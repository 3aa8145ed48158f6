/** Imports servers from a text of unknown origin, a file or a README snippet: detects the format from its content. */

import { isRecord, type JsonObject, valueAt } from '../../lib/json.ts';
import { entriesAt, PLAIN_FILE } from './agent-files.ts';
import { AGENTS } from './agents.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import type { Agent, ForeignFile, Where } from './foreign-agent.ts';
import { gemini } from './gemini-cli.ts';
import { opencode } from './opencode.ts';
import type { Translated } from './translation.ts';
import { vscode } from './vscode.ts';
import { windsurf } from './windsurf.ts';
import { zed } from './zed.ts';

/** `mcpServers` without an identifiable agent: our own keys, and other agents' spellings of them. */
const plain: Agent = {
  id: 'file',
  title: 'File',
  files: () => [],
  ...PLAIN_FILE,
  translate: translatePlain,
  inputs: ({ inputs }) => (Array.isArray(inputs) ? inputs : []),
};

export interface Recognised {
  readonly agent: Agent;
  readonly file: ForeignFile;
}

/** Returns the agent that uses a path: it provides more than the content shows. */
export function knownFile(path: string, where: Where): Recognised | undefined {
  for (const agent of AGENTS) {
    const file = agent.files(where).find((each) => each.path === path);
    if (file !== undefined) return { agent, file };
  }
  return undefined;
}

/** Detects the format of a value; undefined if it has no servers. */
export function recognise(value: unknown, file: ForeignFile): Recognised | undefined {
  if (!isRecord(value)) return undefined;
  if (isRecord(value['mcp_servers'])) return { agent: codex, file };
  if (isRecord(value['context_servers'])) return { agent: zed, file };
  if (isRecord(value['mcpServers'])) return { agent: agentOf(value['mcpServers'], value), file };
  if (isRecord(value['servers'])) return { agent: vscode, file };
  const { mcp } = value;
  if (!isRecord(mcp)) return undefined;
  const inner = valueAt(mcp, ['servers']);
  // Both have `mcp.servers`: VS Code in its settings, OpenCode in its second version.
  if (isRecord(inner) && !Object.values(inner).some(isOfOpenCode)) {
    return { agent: { ...vscode, entries: (all) => entriesAt(all, ['mcp', 'servers'], file.scope) }, file };
  }
  return { agent: opencode, file };
}

/** Detects the agent of `mcpServers` by keys that only one agent has. */
function agentOf(servers: JsonObject, value: JsonObject): Agent {
  const entries = Object.values(servers).filter(isRecord);
  const has = (...keys: readonly string[]): boolean =>
    entries.some((entry) => keys.some((key) => entry[key] !== undefined));
  if (has('httpUrl', 'includeTools', 'excludeTools') || isRecord(value['mcp'])) return gemini;
  if (has('serverUrl', 'alwaysAllow')) return windsurf;
  if (/\$\{(?:env:|workspaceFolder|userHome|pathSeparator)/.test(JSON.stringify(servers))) return cursor;
  return isRecord(value['projects']) && !isOurs(value['projects']) ? claudeCode : plain;
}

/** Claude Code stores the history of each project next to its servers. */
function isOurs(projects: JsonObject): boolean {
  return Object.values(projects).every(
    (project) => isRecord(project) && Object.keys(project).every((key) => OUR_PROJECT_KEYS.has(key)),
  );
}

const OUR_PROJECT_KEYS: ReadonlySet<string> = new Set(['mcpServers', 'permissions', 'servers']);

function isOfOpenCode(entry: unknown): boolean {
  if (!isRecord(entry)) return false;
  return Array.isArray(entry['command']) || entry['type'] === 'local' || entry['type'] === 'remote';
}

/**
 * Translates an entry in our own form or a similar one: accepts alternative spellings, and leaves the rest to
 * validation.
 */
export function translatePlain(raw: JsonObject): Translated {
  const { serverUrl, httpUrl, environment, command, ...rest } = raw;
  const entry: Record<string, unknown> = { ...rest };
  if (Array.isArray(command)) {
    const [program, ...args] = command;
    entry['command'] = program;
    entry['args'] = [...args, ...(Array.isArray(raw['args']) ? raw['args'] : [])];
  } else if (command !== undefined) entry['command'] = command;
  const url = httpUrl ?? serverUrl;
  if (url !== undefined && entry['url'] === undefined) entry['url'] = url;
  if (environment !== undefined && entry['env'] === undefined) entry['env'] = environment;
  if (entry['type'] === 'local') entry['type'] = 'stdio';
  if (entry['type'] === 'remote') entry['type'] = 'http';
  return { entry: inOrder(entry, raw), lost: [] };
}

/** Keeps the original order of the keys; renamed ones come last. */
function inOrder(entry: JsonObject, raw: JsonObject): JsonObject {
  const keys = [...new Set([...Object.keys(raw), ...Object.keys(entry)])];
  return Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(entry, key) ? [[key, entry[key]]] : [])));
}
