/**
 * Reads the servers of plugins: folders that a user named, read like a project's file, whose paths may not leave the
 * plugin (CFG-7).
 */

import { basename, join, posix, resolve } from 'node:path';
import { defined } from '../lib/defined.ts';
import { isInside, realPath } from '../lib/inside.ts';
import { isRecord, type JsonObject, valueAt } from '../lib/json.ts';
import { shellWord } from '../lib/shell-word.ts';
import { loadsCode } from './code-variables.ts';
import { type Document, locateFaults, readDocument } from './document.ts';
import type { InputQuestion, PluginSetting, Problem, ServerSpec } from './entry.ts';
import { type Fault, fatalFault, type JsonPath, showPath } from './fault.ts';
import { parseInputs } from './inputs.ts';
import { checkServerName, type EntryFault, parseServers } from './parse.ts';

/** The manifest of a plugin; the first existing one is used. */
const MANIFESTS = ['plugin.json', join('.claude-plugin', 'plugin.json')];
/** The default files of its servers. */
const SERVER_FILES = ['.mcp.json', 'mcp.json'];
/** For a plugin's name, which precedes the colon in the names of its servers. */
const PLUGIN_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** In Plugboard's home folder: one folder for each plugin. */
const DATA = 'plugin-data';

export interface Plugin {
  /** The name in its manifest, else its folder's name. */
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly servers: readonly ServerSpec[];
  readonly problems: readonly Problem[];
  readonly inputs: readonly InputQuestion[];
  /** The files that were looked for, present or not. */
  readonly files: readonly string[];
  /** Files that exist but could not be read or parsed. */
  readonly unreadable: readonly string[];
  /** Whether the folder contains a manifest or server file. */
  readonly isPlugin: boolean;
}

interface Where {
  readonly folder: string;
  /** Plugboard's home folder, where plugins store data that is kept across versions. */
  readonly home: string;
  readonly projectRoot: string;
  /** The name in the user's settings; default: its own name. */
  readonly name?: string | undefined;
}

/** Reads all enabled plugins. */
export async function readPlugins(
  plugins: Readonly<Record<string, PluginSetting>>,
  { home, projectRoot }: { readonly home: string; readonly projectRoot: string },
): Promise<readonly Plugin[]> {
  const enabled = Object.entries(plugins).filter(([, { enabled: isOn }]) => isOn !== false);
  return Promise.all(
    enabled.map(async ([name, { path }]) => {
      const folder = resolve(home, path);
      return withAbsence(await readPlugin({ folder, home, projectRoot, name }), folder);
    }),
  );
}

/** Reads one plugin. Never rejects because of the folder's content. */
export async function readPlugin(where: Where): Promise<Plugin> {
  const folder = realPath(where.folder);
  const manifests = MANIFESTS.map((file) => join(folder, file));
  const documents = await Promise.all(manifests.map((file) => readDocument(file)));
  const manifest = documents.find(({ value, problems }) => value !== undefined || problems.length > 0);
  const fields = isRecord(manifest?.value) ? manifest.value : {};
  const name = where.name ?? textOf(fields['name']) ?? basename(folder);
  // An invalid name must not form a path; such a plugin cannot be added.
  const data = join(where.home, DATA, PLUGIN_NAME.test(name) ? name : '-');
  const source = { folder, data, projectRoot: where.projectRoot, name };
  const listed = manifest === undefined ? [] : await fromManifest(manifest, fields['mcpServers'], folder);
  const found = await Promise.all(SERVER_FILES.map((file) => readDocument(join(folder, file))));
  const lists = [...listed, ...found.map(wholeFile)];
  const parts = await Promise.all(lists.map((list) => readList(list, source)));
  const all = [...documents, ...lists.map(({ document }) => document)];
  const version = textOf(fields['version']);
  const description = textOf(fields['description']);
  return {
    name,
    ...defined({ version, description }),
    servers: firstOfEach(parts.flatMap(({ servers }) => servers)),
    problems: [...(manifest?.problems ?? []), ...parts.flatMap(({ problems }) => problems)],
    inputs: parts.flatMap(({ inputs }) => inputs),
    files: [...new Set(all.map(({ file }) => file))],
    unreadable: all
      .filter(({ value, problems }) => value === undefined && problems.length > 0)
      .map(({ file }) => file),
    isPlugin: all.some(({ text, problems }) => text !== '' || problems.length > 0),
  };
}

/** Reports a configured plugin that no longer exists; nothing else fails because of it. */
function withAbsence(plugin: Plugin, folder: string): Plugin {
  if (plugin.isPlugin) return plugin;
  const message = `The plugin "${plugin.name}" no longer exists, or defines no servers`;
  const hint = `plugboard plugin remove ${shellWord(plugin.name)} forgets it.`;
  return { ...plugin, problems: [...plugin.problems, { file: folder, message, hint }] };
}

/** Returns one sentence on what is wrong with a plugin's name; undefined if it is valid. */
export function checkPluginName(name: string): string | undefined {
  return PLUGIN_NAME.test(name)
    ? undefined
    : `${JSON.stringify(name)} cannot be the name of a plugin: letters, digits, dots, dashes and underscores can`;
}

/** One object of servers, and its location. */
interface ServerList {
  readonly document: Document;
  readonly path: readonly string[];
  readonly value: unknown;
  readonly faults: readonly Fault[];
}

/** Reads `mcpServers` of a manifest: the servers themselves, or files inside the folder that contain them. */
async function fromManifest(manifest: Document, value: unknown, folder: string): Promise<ServerList[]> {
  if (isRecord(value)) return [{ document: manifest, path: ['mcpServers'], value, faults: [] }];
  const names = (Array.isArray(value) ? value : [value]).filter((name) => name !== undefined);
  return Promise.all(
    names.map(async (name) => {
      const file = typeof name === 'string' ? resolve(folder, name) : undefined;
      if (file !== undefined && isInside(realPath(file), folder)) return wholeFile(await readDocument(file));
      const message = '"mcpServers" must be servers by name, or files inside the folder of the plugin';
      const faults = [fatalFault(['mcpServers'], message)];
      return { document: manifest, path: [], value: undefined, faults };
    }),
  );
}

/** Plugin files have servers under `mcpServers`, or only servers at the top level. */
function wholeFile(document: Document): ServerList {
  const { value } = document;
  if (!isRecord(value)) return { document, path: [], value: undefined, faults: [] };
  if (Object.hasOwn(value, 'mcpServers')) {
    return { document, path: ['mcpServers'], value: value['mcpServers'], faults: [] };
  }
  const isBare = Object.values(value).every(
    (entry) => isRecord(entry) && ('command' in entry || 'url' in entry),
  );
  return { document, path: [], value: isBare ? value : undefined, faults: [] };
}

async function readList(
  { document, path, value, faults: before }: ServerList,
  { folder, data, projectRoot, name }: { folder: string; data: string; projectRoot: string; name: string },
): Promise<{ servers: ServerSpec[]; inputs: readonly InputQuestion[]; problems: Problem[] }> {
  const parsed = parseServers(value, { scope: 'plugin', file: document.file, baseDir: folder }, path);
  const variables = {
    PLUGIN_ROOT: folder,
    CLAUDE_PLUGIN_ROOT: folder,
    PLUGIN_DATA: data,
    CLAUDE_PLUGIN_DATA: data,
    CLAUDE_PROJECT_DIR: projectRoot,
  };
  const servers: ServerSpec[] = [];
  const faults: EntryFault[] = [
    ...before,
    ...parsed.faults.map((fault) => ({ ...fault, ...serverOf(fault, name) })),
  ];
  for (const spec of parsed.servers) {
    const full = `${name}:${spec.name}`;
    const wrong = [...badName(full, [...path, spec.name]), ...leavingPaths(spec.raw, [...path, spec.name])];
    faults.push(...wrong.map((fault) => ({ ...fault, server: full })));
    if (wrong.length === 0) servers.push({ ...spec, name: full, variables, projectDir: projectRoot });
  }
  // The list of questions is next to the servers, not among them.
  const questions = path.length === 0 ? undefined : valueAt(document.value, ['inputs']);
  const { inputs, faults: inInputs } = parseInputs(questions, folder);
  faults.push(...inInputs);
  const isManifest = document.file.endsWith('plugin.json');
  return {
    servers,
    inputs,
    // The caller reports the manifest's own problems once.
    problems: [...(isManifest ? [] : document.problems), ...(await locateFaults(document, faults))],
  };
}

function serverOf({ server }: EntryFault, plugin: string): { server?: string } {
  return server === undefined ? {} : { server: `${plugin}:${server}` };
}

function badName(name: string, path: JsonPath): Fault[] {
  const message = checkServerName(name);
  return message === undefined ? [] : [fatalFault(path, message, undefined, 'key')];
}

function firstOfEach(servers: readonly ServerSpec[]): ServerSpec[] {
  return [...new Map(servers.toReversed().map((spec) => [spec.name, spec])).values()].toReversed();
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A reference to the plugin's own folders, with a default or without. */
const OWN_FOLDER = /\$\{(?:CLAUDE_)?PLUGIN_(?:ROOT|DATA)(?::-[^}]*)?\}/g;
/** Any other reference with a default; the default is checked. */
const WITH_DEFAULT = /\$\{[A-Za-z_]\w*:-([^}]*)\}/g;
/** Placeholder in a text for one of the plugin's own folders. */
const OWN = '\0';
const SEPARATORS = /[\s'"`;&|<>()=,:]+/;
/** Keys whose relative paths are resolved by the system or by an interpreter. */
const PATH_KEYS: ReadonlySet<string> = new Set(['command', 'args', 'cwd', 'headersHelper']);

/** Returns one fault for each text that leads out; absolute paths and variables without a default are not checked. */
function leavingPaths(entry: JsonObject, path: JsonPath): Fault[] {
  const { cwd } = entry;
  const folder = typeof cwd === 'string' ? folderOf(cwd) : '.';
  return textsIn(entry, path).flatMap(({ text, at }) => {
    const inner = at.slice(path.length);
    const isPath = PATH_KEYS.has(String(inner[0])) || (inner[0] === 'env' && loadsCode(String(inner[1])));
    const base = inner[0] === 'cwd' ? '.' : folder;
    return leaves(text, isPath ? base : undefined) ? [fault(at)] : [];
  });
}

/** Returns the working folder relative to the plugin's; the plugin's own folder if it cannot be determined. */
function folderOf(cwd: string): string {
  const filled = fill(cwd);
  if (filled.startsWith(OWN)) return `.${filled.slice(OWN.length)}`;
  return posix.isAbsolute(filled) || filled.includes('${') ? '.' : filled;
}

function leaves(text: string, base: string | undefined): boolean {
  return fill(text)
    .split(SEPARATORS)
    .some((piece) => {
      if (piece.startsWith(OWN)) return isOutside(`.${piece.slice(OWN.length)}`);
      if (base === undefined || posix.isAbsolute(piece) || piece.startsWith('$')) return false;
      return isOutside(posix.join(base, piece));
    });
}

function fill(text: string): string {
  return text.replaceAll(OWN_FOLDER, OWN).replaceAll(WITH_DEFAULT, '$1').replaceAll('\\', '/');
}

function isOutside(path: string): boolean {
  const normal = posix.normalize(path);
  return normal === '..' || normal.startsWith('../');
}

function textsIn(value: unknown, at: JsonPath): { readonly text: string; readonly at: JsonPath }[] {
  if (typeof value === 'string') return [{ text: value, at }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    textsIn(member, [...at, Array.isArray(value) ? Number(key) : key]),
  );
}

function fault(path: JsonPath): Fault {
  const message = `${showPath(path.slice(-2))} leads out of the folder of its plugin`;
  return fatalFault(path, message, 'Relative paths of a plugin stay in its folder.');
}
