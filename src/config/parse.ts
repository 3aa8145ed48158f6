/** Parses `unknown` values into server entries and settings, the only place that does; invalid values become faults. */

import { isRecord } from '../lib/json.ts';
import {
  CONFIG_FILE_KEYS,
  ENTRY_KEYS,
  HTTP_SPELLINGS,
  IN_PROCESS_KEYS,
  REMOTE_KEYS,
  SETTINGS_KEYS,
  STDIO_KEYS,
} from './config-keys.ts';
import type { ServerEntry, ServerSpec, Settings } from './entry.ts';
import { type Fault, type JsonPath, noEffect, type Report, reportTypo, showPath } from './fault.ts';
import { readGiven } from './given-entry.ts';
import { IN_PROCESS_KEY, IN_THIS_PROCESS, isInProcessServer } from './in-process.ts';
import { object } from './kind.ts';
import { reportOtherAgentsKey } from './other-agents-keys.ts';
import { dropPrivileges } from './privileges.ts';
import { isForeign, type Scope } from './scopes.ts';

export const MAX_NAME_CHARS = 128;

const ENTRY = object(ENTRY_KEYS);

/** A fault inside one server's entry. */
export interface EntryFault extends Fault {
  readonly server?: string;
}

export interface Source {
  readonly scope: Scope;
  readonly file?: string;
  readonly baseDir: string;
}

export interface ParsedServers {
  readonly servers: readonly ServerSpec[];
  readonly faults: readonly EntryFault[];
}

/**
 * Parses an object of servers, as under `mcpServers`. Invalid entries are omitted and reported; the others are used.
 * Paths of faults begin at `path`, the path of the object in its document.
 */
export function parseServers(value: unknown, source: Source, path: JsonPath = []): ParsedServers {
  if (value === undefined) return { servers: [], faults: [] };
  if (!isRecord(value)) {
    const message = `${showPath(path)} must be an object of servers by name.`;
    return { servers: [], faults: [{ path, at: 'value', message, fatal: true }] };
  }
  const servers: ServerSpec[] = [];
  const faults: EntryFault[] = [];
  for (const [name, raw] of Object.entries(value)) {
    const parsed = parseEntry(name, raw, source.scope);
    for (const fault of parsed.faults)
      faults.push({ ...fault, path: [...path, name, ...fault.path], server: name });
    if (parsed.entry) servers.push({ name, ...source, entry: parsed.entry, raw: parsed.raw });
  }
  return { servers, faults };
}

export interface ParsedEntry {
  /** Absent if there is a fatal fault. */
  readonly entry?: ServerEntry;
  readonly raw: Readonly<Record<string, unknown>>;
  /** Paths begin inside the entry. */
  readonly faults: readonly Fault[];
}

/**
 * Parses one entry.
 *
 * @example
 * parseEntry('files', { command: 'npx' }, 'user').entry; // { command: 'npx' }
 */
export function parseEntry(name: string, written: unknown, scope: Scope): ParsedEntry {
  if (scope === 'code' && (isInProcessServer(written) || !isRecord(written))) return notAnEntry(written);
  if (scope === 'code' && isRecord(written)) {
    const { value, headersFrom } = readGiven(written);
    const parsed = parsePlain(name, value, scope);
    if (headersFrom === undefined || parsed.entry === undefined || !('url' in parsed.entry)) return parsed;
    return { ...parsed, entry: { ...parsed.entry, headersFrom } };
  }
  return parsePlain(name, written, scope);
}

/** Reports a value in code that is not an entry: usually the server itself. */
function notAnEntry(value: unknown): ParsedEntry {
  const isServer = isInProcessServer(value) || typeof value === 'function';
  const message = isServer
    ? 'It is a server itself, not an entry with one.'
    : 'A server must be an object with a "command", a "url" or "inProcess".';
  const hint = isServer ? 'Write { inProcess: server }.' : undefined;
  const fault: Fault = { path: [], at: 'value', message, fatal: true };
  return { raw: {}, faults: [hint === undefined ? fault : { ...fault, hint }] };
}

function parsePlain(name: string, value: unknown, scope: Scope): ParsedEntry {
  const faults: Fault[] = [];
  const report: Report = (fault) => faults.push(fault);
  const badName = checkServerName(name);
  if (badName !== undefined) report({ path: [], at: 'key', message: badName, fatal: true });
  if (!isRecord(value)) {
    report({
      path: [],
      at: 'value',
      message: 'A server must be an object with a "command" or a "url".',
      fatal: true,
    });
    return { raw: {}, faults };
  }
  if (Object.hasOwn(value, IN_PROCESS_KEY)) return parseInProcess(value, scope, faults);
  ENTRY.check(value, [], report);
  for (const key of Object.keys(value)) reportOtherAgentsKey(key, report);
  const kind = kindOf(value, faults, report, scope === 'code');
  if (faults.some((fault) => fault.fatal) || kind === undefined) {
    // The fatal fault first.
    return { raw: value, faults: faults.toSorted((a, b) => Number(b.fatal) - Number(a.fatal)) };
  }

  const foreign = kind === 'stdio' ? REMOTE_KEYS : STDIO_KEYS;
  const picked: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (!ENTRY_KEYS.has(key)) continue;
    if (!foreign.has(key)) picked[key] = withoutPrototype(member);
    else if (!isEmpty(member))
      report(noEffect([key], kind === 'stdio' ? 'with a command' : 'with a url', 'Take it out.'));
  }
  if (picked['disabled'] === true) picked['enabled'] = false;
  delete picked['disabled'];
  if (typeof picked['type'] === 'string' && HTTP_SPELLINGS.has(picked['type'])) picked['type'] = 'http';
  if (isForeign({ scope })) dropPrivileges(picked, scope, report);
  // The table has validated every key of this kind, and `kindOf` that its one required key exists.
  return { entry: picked as unknown as ServerEntry, raw: value, faults };
}

/** Parses an entry with an in-process server. `raw`, which is shown and compared, omits the server object. */
function parseInProcess(
  { [IN_PROCESS_KEY]: server, ...rest }: Readonly<Record<string, unknown>>,
  scope: Scope,
  faults: Fault[],
): ParsedEntry {
  const raw = { ...rest, [IN_PROCESS_KEY]: IN_THIS_PROCESS };
  const report: Report = (fault) => faults.push(fault);
  const refuse = (message: string, hint: string): void =>
    report({ path: [IN_PROCESS_KEY], at: 'key', message, hint, fatal: true });
  if (scope !== 'code') {
    refuse(
      '"inProcess" can only be given in code, in "servers" of createHost.',
      'Remove it, and give the program to start ("command") or an address ("url").',
    );
    return { raw, faults };
  }
  if (typeof server !== 'function' && !isInProcessServer(server)) {
    refuse(
      '"inProcess" must be a server, or a function that makes one.',
      'Give the result of defineServer() of plugboard/kit, or an McpServer of the official SDK.',
    );
  }
  ENTRY.check(rest, [], report);
  for (const key of Object.keys(rest)) reportOtherAgentsKey(key, report);
  const picked: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(rest)) {
    if (key === 'command' || key === 'url')
      refuse(`It has both "inProcess" and "${key}".`, 'Keep the one that is meant.');
    else if (IN_PROCESS_KEYS.has(key)) picked[key] = withoutPrototype(member);
    else if (ENTRY_KEYS.has(key)) report(noEffect([key], 'with "inProcess"', 'Remove it.'));
  }
  if (picked['disabled'] === true) picked['enabled'] = false;
  delete picked['disabled'];
  const sorted = faults.toSorted((a, b) => Number(b.fatal) - Number(a.fatal));
  if (sorted[0]?.fatal === true) return { raw, faults: sorted };
  // The table has validated every key, and the server was checked above.
  return { entry: { ...picked, [IN_PROCESS_KEY]: server } as unknown as ServerEntry, raw, faults };
}

/** Returns one sentence on what is wrong with a server's name; undefined if it is valid. */
export function checkServerName(name: string): string | undefined {
  const shown = JSON.stringify(name.slice(0, MAX_NAME_CHARS));
  if (name.trim() === '') return "A server's name must not be empty.";
  if ([...name].length > MAX_NAME_CHARS) return `A server's name has at most ${MAX_NAME_CHARS} characters.`;
  if (name.startsWith('-')) return `The server name ${shown} must not begin with a dash.`;
  // Controls, lone surrogates, line separators and invisible formatting; the joiners are part of words and emoji.
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u.test(name)) {
    return `The server name ${escapeInvisible(shown)} has characters that cannot be printed.`;
  }
  return undefined;
}

function escapeInvisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

export interface ParsedSettings {
  readonly settings: Settings;
  readonly faults: readonly Fault[];
}

/** Parses the settings of `config.json`, apart from servers; omits invalid ones. */
export function parseSettings(value: Readonly<Record<string, unknown>>): ParsedSettings {
  const faults: Fault[] = [];
  const settings: Record<string, unknown> = {};
  const unused = CONFIG_FILE_KEYS.filter((name) => !Object.hasOwn(value, name));
  for (const [name, member] of Object.entries(value)) {
    const key = SETTINGS_KEYS.get(name);
    if (!key) {
      if (!CONFIG_FILE_KEYS.includes(name)) reportTypo(name, [], unused, (fault) => faults.push(fault));
      continue;
    }
    const found: Fault[] = [];
    key.kind.check(member, [name], (fault) => found.push(fault));
    faults.push(...found);
    if (!found.some((fault) => fault.fatal)) settings[name] = member;
  }
  if (isRecord(settings['plugins'])) settings['plugins'] = withPath(settings['plugins'], faults);
  return { settings, faults };
}

/** A plugin without a folder must not invalidate the others. */
function withPath(plugins: Readonly<Record<string, unknown>>, faults: Fault[]): Record<string, unknown> {
  const usable = Object.entries(plugins).filter(([name, plugin]) => {
    const isUsable = isRecord(plugin) && typeof plugin['path'] === 'string';
    const path = ['plugins', name];
    const message = `${showPath(path)} has no "path".`;
    if (!isUsable) faults.push({ path, at: 'key', message, hint: 'Name its folder.', fatal: true });
    return isUsable;
  });
  return Object.fromEntries(usable);
}

/** Determines the kind of server that an entry describes; reports if it is neither or both. */
function kindOf(
  value: Readonly<Record<string, unknown>>,
  soFar: readonly Fault[],
  report: Report,
  isCode: boolean,
): 'stdio' | 'remote' | undefined {
  const { type } = value;
  const hasCommand = Object.hasOwn(value, 'command');
  const hasUrl = Object.hasOwn(value, 'url');
  const whole = (message: string, hint?: string): undefined => {
    report({ path: [], at: 'key', message, ...(hint === undefined ? {} : { hint }), fatal: true });
  };
  if (hasCommand && hasUrl)
    return whole('It has both a "command" and a "url".', 'Keep the one that is meant.');
  if (!hasCommand && !hasUrl) {
    const typo = soFar.find(({ hint = '' }) => /^(?:Did you mean|Write) "(?:command|url)"[?.]$/.test(hint));
    return whole(
      'It has neither a "command" nor a "url".',
      typo?.hint ??
        (isCode
          ? 'Give the program to start, an address, or a server of this program as "inProcess".'
          : 'Give the program to start, or an address.'),
    );
  }
  if (hasCommand && type !== undefined && type !== 'stdio') {
    return whole(
      'Its "type" needs a "url", but it has a "command".',
      'Leave "type" out, or set it to "stdio".',
    );
  }
  if (hasUrl && type === 'stdio') {
    return whole(
      'Its "type" needs a "command", but it has a "url".',
      'Leave "type" out, or set it to "http" or "sse".',
    );
  }
  if (hasUrl && !isHttpUrl(value['url'])) {
    report({ path: ['url'], at: 'value', message: '"url" must be an http or https address.', fatal: true });
  }
  return hasCommand ? 'stdio' : 'remote';
}

/** A URL with references is validated again after expansion. */
function isHttpUrl(url: unknown): boolean {
  if (typeof url !== 'string') return true; // already reported by the table
  return url.includes('${') || /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '');
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Copies a value without prototypes, so that a tool called `constructor` is looked up correctly. */
function withoutPrototype(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototype);
  if (!isRecord(value)) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, member] of Object.entries(value)) copy[key] = withoutPrototype(member);
  return copy;
}
