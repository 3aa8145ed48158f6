/** Reads the command line of a README as a server: `npx -y …`, `KEY=1 cmd …`, `claude mcp add …`, or an address. */

import { splitArgv } from '../lib/argv.ts';
import type { JsonObject } from '../lib/json.ts';

export interface ReadServer {
  readonly name: string;
  readonly entry: JsonObject;
}

const ASSIGNMENT = /^([A-Za-z_]\w*)=(.*)$/s;
const ADDRESS = /^https?:\/\/\S+$/;
/** Flags of other agents' `mcp add` that have a value. */
const VALUED = new Set([
  '-t',
  '--transport',
  '-s',
  '--scope',
  '-e',
  '--env',
  '-H',
  '--header',
  '--url',
  '--bearer-token-env-var',
]);

/**
 * Returns the server that a command line starts. Words are split as by a shell; nothing is expanded.
 *
 * @example
 * readCommandLine('npx -y @modelcontextprotocol/server-memory');
 * // { name: 'memory', entry: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] } }
 * @throws PlugboardError USAGE for a quote that is not closed.
 */
export function readCommandLine(line: string): ReadServer | undefined {
  const words = splitArgv(
    line
      .trim()
      .replace(/^(?:\$|>|❯)\s+/, '')
      .replaceAll(/\\\r?\n/g, ' '),
  );
  const [first, second, third] = words;
  if (first === undefined) return undefined;
  if (words.length === 1 && ADDRESS.test(first)) return { name: nameOfUrl(first), entry: { url: first } };
  if (second === 'mcp' && (third === 'add' || third === 'add-json')) return added(words.slice(3));
  return started(words);
}

/** Returns a name for an entry that has none. */
export function nameOfEntry({ command, args, url }: JsonObject): string {
  if (typeof url === 'string' && URL.canParse(url)) return nameOfUrl(url);
  const words = Array.isArray(args) ? args.map(String) : [];
  return typeof command === 'string' ? nameOfCommand(command, words) : 'server';
}

/** `KEY=value command args…` */
function started(words: readonly string[]): ReadServer | undefined {
  const env: Record<string, string> = {};
  let at = 0;
  for (; at < words.length; at += 1) {
    const [, key, value] = ASSIGNMENT.exec(words[at] ?? '') ?? [];
    if (key === undefined || value === undefined) break;
    env[key] = value;
  }
  const [command, ...args] = words.slice(at);
  if (command === undefined) return undefined;
  return {
    name: nameOfCommand(command, args),
    entry: {
      command,
      ...(args.length === 0 ? {} : { args }),
      ...(Object.keys(env).length === 0 ? {} : { env }),
    },
  };
}

/** `<agent> mcp add [flags] name [--] command args…`, or with an address. */
function added(words: readonly string[]): ReadServer | undefined {
  const env: Record<string, string> = {};
  const headers: Record<string, string> = {};
  const rest: string[] = [];
  let url: string | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') {
      rest.push(...words.slice(at + 1));
      break;
    }
    const value = words[at + 1] ?? '';
    if (VALUED.has(word)) {
      at += 1;
      const [, key, text] = ASSIGNMENT.exec(value) ?? [];
      const [, header, content] = /^([^:]+):\s*(.*)$/s.exec(value) ?? [];
      if ((word === '-e' || word === '--env') && key !== undefined) env[key] = text ?? '';
      else if ((word === '-H' || word === '--header') && header !== undefined)
        headers[header] = content ?? '';
      else if (word === '--url') url = value;
      else if (word === '--bearer-token-env-var') headers['Authorization'] = `Bearer \${${value}}`;
    } else if (rest.length > 1 || !word.startsWith('-')) rest.push(word);
  }
  const [name, command, ...args] = rest;
  if (name === undefined) return undefined;
  const address = url ?? (command !== undefined && ADDRESS.test(command) ? command : undefined);
  if (address !== undefined)
    return { name, entry: { url: address, ...(Object.keys(headers).length === 0 ? {} : { headers }) } };
  if (command === undefined) return undefined;
  return {
    name,
    entry: {
      command,
      ...(args.length === 0 ? {} : { args }),
      ...(Object.keys(env).length === 0 ? {} : { env }),
    },
  };
}

/** `@modelcontextprotocol/server-memory@1.2` → `memory`. */
function nameOfCommand(command: string, args: readonly string[]): string {
  const isRunner =
    /^(?:npx|bunx|pnpx|uvx|pipx|docker|podman|node|bun|deno|python3?|uv|npm|pnpm|yarn)(?:\.cmd|\.exe)?$/.test(
      command.split(/[\\/]/).at(-1) ?? '',
    );
  const skipped = new Set(['run', 'exec', 'dlx', 'tool', '--', ...(command === 'bun' ? ['x'] : [])]);
  const word = isRunner
    ? (args.find((arg) => !arg.startsWith('-') && !skipped.has(arg)) ?? command)
    : command;
  return plainName(word);
}

function nameOfUrl(url: string): string {
  const { hostname } = new URL(url);
  const parts = hostname
    .split('.')
    .filter((part) => !/^(?:www|mcp|api|com|org|io|dev|ai|app|net)$/.test(part));
  return plainName(parts.at(-1) ?? hostname);
}

function plainName(word: string): string {
  const parts = word.split(/[\\/]/);
  const plain = withoutAffixes(parts.at(-1) ?? word);
  // `@playwright/mcp`: the scope is the name.
  const scope = parts.length > 1 && word.startsWith('@') ? withoutAffixes((parts[0] ?? '').slice(1)) : '';
  const name = /^(?:mcp|server|mcp-server|)$/.test(plain) ? scope || plain : plain;
  return name === '' ? 'server' : name;
}

function withoutAffixes(base: string): string {
  return base
    .replace(/(?<=.)@[\w.^~-]*$/, '')
    .replace(/:[\w.-]+$/, '')
    .replace(/\.(?:[cm]?[jt]s|py|exe|cmd|sh)$/, '')
    .replaceAll(/[^\w.-]+/g, '-')
    .replace(/^(?:mcp-)?server-|^mcp-/, '')
    .replace(/-mcp(?:-server)?$|-server$/, '')
    .replaceAll(/^[-.]+|[-.]+$/g, '');
}
