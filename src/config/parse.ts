/**
 * Parses `unknown` values, from files and from code, into server entries and settings, the only place that does; invalid
 * values become faults.
 */

import { PlugboardError } from '../errors.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import {
  CONFIG_FILE_KEYS,
  ENTRY_KEYS,
  type EntryMembers,
  IN_PROCESS_KEYS,
  REMOTE_ENTRY_KEYS,
  REMOTE_KEYS,
  RULE_KEYS,
  SETTINGS_KEYS,
  type SettingsMembers,
  STDIO_ENTRY_KEYS,
  STDIO_KEYS,
  validBudgets,
} from './config-keys.ts';
import type { Permissions, Problem, ServerEntry, ServerSpec, Settings } from './entry.ts';
import {
  type Fault,
  fatalFault,
  type JsonPath,
  noEffect,
  type Report,
  reportTypo,
  showPath,
} from './fault.ts';
import { readGiven } from './given-entry.ts';
import { IN_PROCESS_KEY, IN_THIS_PROCESS, isInProcessFactory, isInProcessServer } from './in-process.ts';
import { choice, membersOf, object, validMembers } from './kind.ts';
import { otherAgentsHint, reportOtherAgentsKey } from './other-agents-keys.ts';
import { dropPrivileges } from './privileges.ts';
import { checkProfiles, EVERY_CLIENT } from './profiles.ts';
import { isForeign, type Scope } from './scopes.ts';
import { remoteTypeOf, transportTypes } from './transport-kinds.ts';

const MAX_NAME_CHARS = 128;

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

interface ParsedServers {
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
    const message = `${showPath(path)} must be an object of servers by name`;
    return { servers: [], faults: [fatalFault(path, message)] };
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

interface ParsedEntry {
  /** Absent if there is a fatal fault. */
  readonly entry?: ServerEntry;
  readonly raw: JsonObject;
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
    : 'A server must be an object with a "command", a "url" or "inProcess"';
  const hint = isServer ? 'Write { inProcess: server }.' : undefined;
  return { raw: {}, faults: [fatalFault([], message, hint)] };
}

function parsePlain(name: string, value: unknown, scope: Scope): ParsedEntry {
  const faults: Fault[] = [];
  const report: Report = (fault) => faults.push(fault);
  const badName = checkServerName(name);
  if (badName !== undefined) report(fatalFault([], badName, undefined, 'key'));
  if (!isRecord(value)) {
    report(fatalFault([], 'A server must be an object with a "command" or a "url"'));
    return { raw: {}, faults };
  }
  if (Object.hasOwn(value, IN_PROCESS_KEY)) return parseInProcess(value, scope, faults);
  const isValid = ENTRY.check(value, [], report);
  for (const key of Object.keys(value)) reportOtherAgentsKey(key, report);
  const kind = kindOf(value, faults, report, scope === 'code');
  if (!isValid || kind === undefined || faults.some((fault) => fault.fatal)) {
    // The fatal fault first.
    return { raw: value, faults: faults.toSorted((a, b) => Number(b.fatal) - Number(a.fatal)) };
  }

  const [otherKeys, where] = kind === 'stdio' ? [REMOTE_KEYS, 'with a command'] : [STDIO_KEYS, 'with a url'];
  for (const [key, member] of Object.entries(value)) {
    if (otherKeys.has(key) && !isEmpty(member)) report(noEffect([key], where, 'Take it out.'));
  }
  const entry = entryOf(value);
  if (entry !== undefined && isForeign({ scope })) dropPrivileges(entry, scope, report);
  return { ...(entry === undefined ? {} : { entry }), raw: value, faults };
}

/** Returns the entry of a validated value; undefined if it has neither a command nor a url. */
function entryOf(value: Partial<EntryMembers>): ServerEntry | undefined {
  const { command, url } = value;
  if (command !== undefined) {
    const { type, disabled, ...members } = membersOf(STDIO_ENTRY_KEYS, value);
    return {
      ...(type === undefined ? {} : { type: 'stdio' }),
      ...members,
      command,
      ...switchedOff(disabled),
    };
  }
  if (url === undefined) return undefined;
  const { type, disabled, ...members } = membersOf(REMOTE_ENTRY_KEYS, value);
  return {
    ...(type === undefined ? {} : { type: remoteTypeOf(type) }),
    ...members,
    url,
    ...switchedOff(disabled),
  };
}

/** Translates `disabled`, as other agents write it. */
function switchedOff(disabled: boolean | undefined): { enabled?: false } {
  return disabled === true ? { enabled: false } : {};
}

/** Parses an entry with an in-process server. `raw`, which is shown and compared, omits the server object. */
function parseInProcess(
  { [IN_PROCESS_KEY]: server, ...rest }: JsonObject,
  scope: Scope,
  faults: Fault[],
): ParsedEntry {
  const raw = { ...rest, [IN_PROCESS_KEY]: IN_THIS_PROCESS };
  const report: Report = (fault) => faults.push(fault);
  const refuse = (message: string, hint: string): void =>
    report(fatalFault([IN_PROCESS_KEY], message, hint, 'key'));
  if (scope !== 'code') {
    refuse(
      '"inProcess" can only be given in code, in "servers" of createHost',
      'Remove it, and give the program to start ("command") or an address ("url").',
    );
    return { raw, faults };
  }
  const isServer = isInProcessFactory(server) || isInProcessServer(server);
  if (!isServer) {
    refuse(
      '"inProcess" must be a server, or a function that makes one',
      'Give the result of defineServer() of plugboard/kit, or an McpServer of the official SDK.',
    );
  }
  const isValid = ENTRY.check(rest, [], report);
  for (const key of Object.keys(rest)) reportOtherAgentsKey(key, report);
  for (const key of Object.keys(rest)) {
    if (key === 'command' || key === 'url')
      refuse(`It has both "inProcess" and "${key}"`, 'Keep the one that is meant.');
    else if (ENTRY_KEYS.has(key) && !IN_PROCESS_KEYS.has(key))
      report(noEffect([key], 'with "inProcess"', 'Remove it.'));
  }
  const sorted = faults.toSorted((a, b) => Number(b.fatal) - Number(a.fatal));
  if (!isServer || !isValid || sorted[0]?.fatal === true) return { raw, faults: sorted };
  const { disabled, ...members } = membersOf(IN_PROCESS_KEYS, rest);
  return { entry: { ...members, ...switchedOff(disabled), [IN_PROCESS_KEY]: server }, raw, faults };
}

/** Returns one sentence on what is wrong with a server's name; undefined if it is valid. */
export function checkServerName(name: string): string | undefined {
  const shown = JSON.stringify(name.slice(0, MAX_NAME_CHARS));
  if (name.trim() === '') return "A server's name must not be empty.";
  if ([...name].length > MAX_NAME_CHARS) return `A server's name has at most ${MAX_NAME_CHARS} characters`;
  if (name.startsWith('-')) return `The server name ${shown} must not begin with a dash`;
  // Controls, lone surrogates, line separators and invisible formatting; the joiners are part of words and emoji.
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u.test(name)) {
    return `The server name ${escapeInvisible(shown)} has characters that cannot be printed`;
  }
  return undefined;
}

function escapeInvisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

interface ParsedSettings {
  readonly settings: Settings;
  readonly faults: readonly Fault[];
}

/** Parses the settings of `config.json`, apart from servers; omits invalid ones. */
export function parseSettings(value: JsonObject): ParsedSettings {
  const faults: Fault[] = [];
  const report: Report = (fault) => faults.push(fault);
  const unused = CONFIG_FILE_KEYS.filter((name) => !Object.hasOwn(value, name));
  const { profiles, clients, ...others } = value;
  const { plugins, budgets, ...valid } = validMembers(SETTINGS_KEYS, others, report, (name) => {
    if (!CONFIG_FILE_KEYS.includes(name)) reportTypo(name, [], unused, report);
  });
  const rest = {
    ...valid,
    ...(budgets === undefined ? {} : { budgets: validBudgets(budgets) }),
    ...(valid.permissions === undefined && isRecord(value['permissions'])
      ? { permissions: usablePermissions(value['permissions']) }
      : {}),
  };
  const withPlugins = plugins === undefined ? rest : { ...rest, plugins: withPath(plugins, report) };
  if (profiles === undefined && clients === undefined) return { settings: withPlugins, faults };
  const named = memberByMember('profiles', profiles, report);
  const known = memberByMember('clients', clients, report);
  const checked = checkProfiles({
    ...withPlugins,
    ...(profiles === undefined ? {} : { profiles: named.valid, brokenProfiles: named.broken }),
    ...(clients === undefined ? {} : { clients: known.valid, brokenClients: known.broken }),
  });
  return { settings: checked.settings, faults: [...faults, ...checked.faults] };
}

/** Returns the valid rules of invalid permissions: a mistake in one rule must not lift the others. */
function usablePermissions(written: JsonObject): Permissions {
  const lists = [...RULE_KEYS.keys()].flatMap((name) => {
    const list = written[name];
    return Array.isArray(list) ? [[name, list.filter((rule) => typeof rule === 'string')] as const] : [];
  });
  return Object.fromEntries(lists);
}

/** Validates each member of a setting alone, so that an invalid one does not invalidate the others. */
function memberByMember<Name extends 'profiles' | 'clients'>(
  name: Name,
  value: unknown,
  report: Report,
): { readonly valid: NonNullable<Settings[Name]>; readonly broken: readonly string[] } {
  const kind = SETTINGS_KEYS.get(name)?.kind;
  const members = isRecord(value) ? Object.entries(value) : [];
  if (value !== undefined && !isRecord(value)) {
    kind?.check(value, [name], report);
    return { valid: {}, broken: [EVERY_CLIENT] };
  }
  // Unknown keys are reported with their consequence, by `checkProfiles`; rules and globs are reported here.
  const kept: Report = (fault) => (fault.fatal || fault.at === 'value') && report(fault);
  const [valid, broken] = [new Map<string, unknown>(), [] as string[]];
  for (const [key, member] of members)
    if (kind?.check({ [key]: member }, [name], kept) === true) valid.set(key, member);
    else broken.push(key);
  // Each member was checked by the kind of the setting.
  return { valid: Object.fromEntries(valid) as unknown as NonNullable<Settings[Name]>, broken };
}

/** A plugin without a folder must not invalidate the others. */
function withPath(
  plugins: NonNullable<SettingsMembers['plugins']>,
  report: Report,
): NonNullable<Settings['plugins']> {
  const usable = Object.entries(plugins).flatMap(([name, { path: folder, ...rest }]) => {
    if (folder !== undefined) return [[name, { path: folder, ...rest }] as const];
    const path = ['plugins', name];
    const message = `${showPath(path)} has no "path"`;
    report(fatalFault(path, message, 'Name its folder.', 'key'));
    return [];
  });
  return Object.fromEntries(usable);
}

/** Determines the kind of server that an entry describes; reports if it is neither or both. */
function kindOf(
  value: JsonObject,
  soFar: readonly Fault[],
  report: Report,
  isCode: boolean,
): 'stdio' | 'remote' | undefined {
  const { type } = value;
  const hasCommand = Object.hasOwn(value, 'command');
  const hasUrl = Object.hasOwn(value, 'url');
  const whole = (message: string, hint?: string): undefined => {
    report(fatalFault([], message, hint, 'key'));
  };
  if (hasCommand && hasUrl)
    return whole('It has both a "command" and a "url"', 'Keep the one that is meant.');
  if (!hasCommand && !hasUrl) {
    const typo = soFar.find(({ hint = '' }) => /^(?:Did you mean|Write) "(?:command|url)"[?.]$/.test(hint));
    return whole(
      'It has neither a "command" nor a "url"',
      typo?.hint ??
        (isCode
          ? 'Give the program to start, an address, or a server of this program as "inProcess".'
          : 'Give the program to start, or an address.'),
    );
  }
  if (hasCommand && type !== undefined && type !== 'stdio') {
    return whole(
      'Its "type" needs a "url", but it has a "command"',
      'Leave "type" out, or set it to "stdio".',
    );
  }
  if (hasUrl && type === 'stdio') {
    return whole(
      'Its "type" needs a "command", but it has a "url"',
      `Leave "type" out, or set it to ${choice(transportTypes('url'))}.`,
    );
  }
  if (hasUrl && !isHttpUrl(value['url'])) {
    report(fatalFault(['url'], '"url" must be an http or https address'));
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

/**
 * Parses an entry from a program, whose author can correct it: a misspelt key throws too, and other keys without effect
 * are passed to `warn`.
 */
export function givenSpec(
  name: string,
  value: unknown,
  baseDir: string,
  warn: (problem: Pick<Problem, 'message' | 'hint'>) => void,
): ServerSpec {
  const { faults, raw } = parseEntry(name, value, 'code');
  const typo = faults.find((fault) => fault.typo);
  const spec = specFromCode(name, value, baseDir);
  if (typo !== undefined) {
    const message = typo.message.replace(/ and has no effect$/, '');
    throw new PlugboardError('CONFIG_INVALID', `${name}: ${message}`, { server: name, hint: typo.hint });
  }
  for (const { message, hint } of faults) warn(hint === undefined ? { message } : { message, hint });
  for (const key of unknownKeys(raw))
    warn({ message: `${JSON.stringify(key)} is not a known key and has no effect` });
  return spec;
}

/** Keys of other agents already have a fault. */
function unknownKeys(raw: JsonObject): string[] {
  return Object.keys(raw).filter(
    (key) =>
      !ENTRY_KEYS.has(key) &&
      key !== IN_PROCESS_KEY &&
      !key.startsWith('x-') &&
      otherAgentsHint(key) === undefined,
  );
}

/** Throws CONFIG_INVALID with the first problem, because code has no problem list to show. */
export function specFromCode(name: string, value: unknown, baseDir: string): ServerSpec {
  const { entry, raw, faults } = parseEntry(name, value, 'code');
  if (entry !== undefined) return { name, scope: 'code', entry, raw, baseDir };
  const fault = faults.find(({ fatal }) => fatal) ?? faults[0];
  throw new PlugboardError('CONFIG_INVALID', `${name}: ${fault?.message ?? 'not a server'}`, {
    server: name,
    hint: fault?.hint,
  });
}
