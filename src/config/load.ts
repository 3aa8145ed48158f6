/** Finds the configuration files of a folder and merges them into one configuration. */

import { dirname, join, resolve } from 'node:path';
import { realPath } from '../lib/inside.ts';
import { isRecord, type JsonObject, valueAt } from '../lib/json.ts';
import { PROJECT_PERMISSIONS } from './config-keys.ts';
import { type Document, locateFaults, readDocument } from './document.ts';
import type { Config, InputQuestion, Problem, ServerEntry, ServerSpec, Settings } from './entry.ts';
import { type Fault, fatalFault, noEffect, reportTypo } from './fault.ts';
import { findProjectRoot, type Home } from './home.ts';
import { parseInputs, withQuestions } from './inputs.ts';
import { LOCK_FILE, withLocks } from './lock-file.ts';
import { type Managed, readManaged } from './managed.ts';
import { mergeSpecs } from './merge-specs.ts';
import { type EntryFault, givenSpec, parseServers, parseSettings, type Source } from './parse.ts';
import type { Plugin } from './plugins.ts';
import { projectKey } from './project-key.ts';
import { relativePathProblem } from './relative-paths.ts';
import { parseSwitches, type Switches, withSwitch } from './switches.ts';

/** The configuration file of a project, in the format of other agents. */
export const PROJECT_FILE = '.mcp.json';
/** Replaces the file name in problems of entries given in code. */
export const CODE = '(code)';

export interface LoadOptions {
  readonly cwd: string;
  readonly home: Home;
  /** Entries given in code: the strongest scope except `managed`. */
  readonly code?: JsonObject | undefined;
  /** Additional entries for this run only; they override `code`. */
  readonly extra?: Readonly<Record<string, ServerEntry>> | undefined;
  readonly builtIn?: BuiltIn | undefined;
  /** False: the user's and the project's files are not read. Managed settings of the machine still apply. */
  readonly files?: boolean | undefined;
}

/** Built-in servers, depending on the user's settings: the lowest precedence, because the user did not name them. */
export type BuiltIn = (settings: Settings) => Readonly<Record<string, ServerEntry>>;

export interface LoadedConfig extends Config {
  /** Entries that a stronger one of the same name hides, strongest first. */
  readonly shadowed: readonly ServerSpec[];
  /** Unapproved entries, where another entry of their name is used instead: see `policy/effective.ts`. */
  readonly waiting: readonly ServerSpec[];
  /** Those of `waiting` whose previous version was approved. */
  readonly changed?: ReadonlySet<ServerSpec>;
  /** The managed settings of this machine. */
  readonly managed: Managed;
  /** The questions for values that are not stored in a file. */
  readonly inputs: readonly InputQuestion[];
  /** Files that exist but could not be read or parsed, or are empty: their content is unknown. */
  readonly unreadable: readonly string[];
}

/** The result of one source. */
interface Part {
  readonly servers: readonly ServerSpec[];
  readonly problems: readonly Problem[];
  readonly inputs?: readonly InputQuestion[];
}

/**
 * Loads the merged configuration. Never rejects because of a file's content: an invalid file or entry is a problem in
 * the result, and everything else is used.
 *
 * @example
 * const { servers, problems } = await loadConfig({ cwd: process.cwd(), home: findHome(process.env) });
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const cwd = resolve(options.cwd);
  // The real path, so that a project has one name, whatever the path to it.
  const realCwd = realPath(cwd);
  const projectRoot = findProjectRoot(realCwd);
  const isRead = options.files !== false;
  const folders = isRead ? foldersUpward(realCwd, projectRoot) : [];
  const projectFiles = folders.map((folder) => join(folder, PROJECT_FILE));
  const ownFiles = isRead ? [options.home.config] : [];
  const [managed, [own], shared] = await Promise.all([
    readManaged(projectRoot),
    Promise.all(ownFiles.map((file) => readDocument(file).then(withoutEmpty))),
    Promise.all(projectFiles.map((file) => readDocument(file))),
  ]);

  const person = own ? await readOwn(own, { projectRoot, aliases: [findProjectRoot(cwd)] }) : undefined;
  const plugins = await pluginsOf(person?.settings, options.home, projectRoot);
  const parts: Part[] = [
    managed,
    fromCode(options.extra, projectRoot),
    fromCode(options.code, projectRoot),
    ...(person ? [person] : []),
    ...(await Promise.all(shared.map((document) => readProject(document, projectRoot)))),
    ...plugins,
  ];
  // No built-in servers if only managed servers may run, or if the settings cannot be read.
  const isAlone = managed.exclusive !== undefined || managed.closed !== undefined;
  if (options.builtIn !== undefined && !isAlone && !(own && isBroken(own))) {
    const { servers, problems } = fromCode(options.builtIn(person?.settings ?? {}), projectRoot);
    parts.push({ servers: servers.map((spec) => ({ ...spec, builtIn: true })), problems });
  }
  const inputs = parts.flatMap((part) => part.inputs ?? []);
  const switches: Switches = person?.switches ?? new Map();
  const unlocked = parts.flatMap((part) => part.servers.map((spec) => withQuestions(spec, inputs)));
  const { specs: all, problems: inLocks } = await withLocks(unlocked, options.home);
  return {
    ...mergeSpecs(all.map((spec) => withSwitch(spec, switches, options.home.config))),
    settings: person?.settings ?? {},
    problems: [...parts.flatMap((part) => part.problems), ...inLocks],
    files: [
      ...ownFiles,
      ...projectFiles,
      ...[...ownFiles, ...projectFiles].map((file) => join(dirname(file), LOCK_FILE)),
      ...managed.files,
      ...plugins.flatMap((plugin) => plugin.files),
    ],
    managed,
    inputs,
    unreadable: [
      ...[own, ...shared].flatMap((document) => (document && isUnfinished(document) ? [document.file] : [])),
      ...plugins.flatMap((plugin) => plugin.unreadable),
    ],
    projectRoot,
  };
}

/** Loads the code for plugins only if there are some. */
async function pluginsOf(
  settings: Settings | undefined,
  home: Home,
  projectRoot: string,
): Promise<readonly Plugin[]> {
  if (settings?.plugins === undefined) return [];
  const { readPlugins } = await import('./plugins.ts');
  return readPlugins(settings.plugins, { home: home.dir, projectRoot });
}

function isBroken({ value, problems }: Document): boolean {
  return value === undefined && problems.length > 0;
}

/** True for a file whose content is unknown; editors empty a file before they write it. */
function isUnfinished(document: Document): boolean {
  return document.isEmpty === true || isBroken(document);
}

/** Reports an empty `config.json`: its rules and profiles are lost, and a new one has at least `{}`. */
function withoutEmpty(document: Document): Document {
  if (document.isEmpty !== true) return document;
  const { file } = document;
  const problem = { file, line: 1, column: 1, message: 'The file is empty', hint: EMPTY_HINT };
  return { ...document, problems: [problem] };
}

const EMPTY_HINT = 'Restore its content, or write {} for a configuration without servers and rules.';

/** Returns the folders from `from` up to the root, nearest first. */
function foldersUpward(from: string, root: string): string[] {
  const folders = [from];
  for (let folder = from; folder !== root && dirname(folder) !== folder; ) {
    folder = dirname(folder);
    folders.push(folder);
  }
  return folders;
}

/** Throws CONFIG_INVALID for an invalid entry, since its author is the caller. */
function fromCode(entries: JsonObject | undefined, baseDir: string): Part {
  const problems: Problem[] = [];
  const servers = Object.entries(entries ?? {}).map(([name, entry]) =>
    givenSpec(name, entry, baseDir, (problem) => problems.push({ file: CODE, server: name, ...problem })),
  );
  return { servers, problems: [...problems, ...relativePathProblems(servers, CODE)] };
}

function relativePathProblems(servers: readonly ServerSpec[], file: string): Problem[] {
  return servers.flatMap((spec) => {
    const problem = relativePathProblem(spec);
    return problem === undefined ? [] : [{ file, ...problem }];
  });
}

/** Reads `.mcp.json`: only servers and inputs; other keys belong to other agents. */
async function readProject(document: Document, projectRoot: string): Promise<Part> {
  const { faults, value } = topLevel(document);
  const source: Source = { scope: 'project', file: document.file, baseDir: projectRoot };
  const { servers, faults: inside } = parseServers(value['mcpServers'], source, ['mcpServers']);
  if (!Object.hasOwn(value, 'mcpServers')) {
    for (const name of Object.keys(value))
      reportTypo(name, [], ['mcpServers'], (fault) => faults.push(fault));
  }
  const { inputs, faults: inInputs } = parseInputs(value['inputs'], projectRoot);
  if (Object.hasOwn(value, 'permissions')) {
    faults.push(noEffect(['permissions'], 'in a project file', 'Set it in your own config.json.'));
  }
  const all = [...faults, ...inInputs, ...inside];
  return { servers, inputs, problems: [...document.problems, ...(await locateFaults(document, all))] };
}

interface Folders {
  readonly projectRoot: string;
  /** Other spellings of the root, through links. */
  readonly aliases: readonly string[];
}

/** Reads `config.json`: user scope, the local scope of this project, and settings. */
async function readOwn(
  document: Document,
  folders: Folders,
): Promise<Part & { readonly settings: Settings; readonly switches: Switches }> {
  const { file } = document;
  const { faults, value } = topLevel(document);
  const user = parseServers(value['mcpServers'], { scope: 'user', file, baseDir: folders.projectRoot }, [
    'mcpServers',
  ]);
  const { settings, faults: inSettings } = parseSettings(value);
  const local = parseLocal(
    value['projects'],
    { scope: 'local', file, baseDir: folders.projectRoot },
    folders,
  );
  const rules = projectRules(value['projects']);
  const { switches, faults: inSwitches } = switchesIn(value['projects'], folders);
  const all = [...faults, ...inSettings, ...local.faults, ...inSwitches, ...rules.faults, ...user.faults];
  const servers = [...local.servers, ...user.servers];
  return {
    servers,
    problems: [
      ...document.problems,
      ...(await locateFaults(document, all)),
      ...relativePathProblems(servers, file),
    ],
    settings: rules.projects === undefined ? settings : { ...settings, projects: rules.projects },
    inputs: parseInputs(settings.inputs, '').inputs,
    switches,
  };
}

function switchesIn(projects: unknown, folders: Folders): ReturnType<typeof parseSwitches> {
  const key = projectKey(projects, [folders.projectRoot, ...folders.aliases]);
  const value = key === undefined ? undefined : valueAt(projects, [key, 'servers']);
  return parseSwitches(value, ['projects', key ?? '', 'servers']);
}

function parseLocal(projects: unknown, source: Source, folders: Folders): ReturnType<typeof parseServers> {
  if (projects === undefined) return { servers: [], faults: [] };
  if (!isRecord(projects))
    return { servers: [], faults: [fatalFault(['projects'], '"projects" must be an object by folder')] };
  const key = projectKey(projects, [folders.projectRoot, ...folders.aliases]);
  const project = key === undefined ? undefined : projects[key];
  if (key === undefined || project === undefined) return { servers: [], faults: [] };
  const path = ['projects', key];
  if (!isRecord(project))
    return { servers: [], faults: [fatalFault(path, 'A project must be an object with "mcpServers"')] };
  return parseServers(project['mcpServers'], source, [...path, 'mcpServers']);
}

/** Reads `projects.<folder>.permissions`; resolves links in the folder's path. */
function projectRules(projects: unknown): { projects?: Settings['projects']; faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const found: Record<string, { readonly permissions: NonNullable<Settings['permissions']> }> = {};
  for (const [folder, project] of Object.entries(isRecord(projects) ? projects : {})) {
    const permissions = isRecord(project) ? project['permissions'] : undefined;
    if (permissions === undefined) continue;
    const path = ['projects', folder, 'permissions'];
    if (PROJECT_PERMISSIONS.check(permissions, path, (fault) => faults.push(fault)))
      found[realPath(resolve(folder))] = { permissions };
  }
  return Object.keys(found).length === 0 ? { faults } : { projects: found, faults };
}

function topLevel(document: Document): { value: JsonObject; faults: EntryFault[] } {
  if (document.value === undefined) return { value: {}, faults: [] };
  if (isRecord(document.value)) return { value: document.value, faults: [] };
  return { value: {}, faults: [fatalFault([], 'The file must hold a JSON object')] };
}
