/** Reads the settings of npm that determine which program `npx` runs. */

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { attempt } from '../lib/attempt.ts';
import { findProgram } from '../lib/find-program.ts';
import { realPath } from '../lib/inside.ts';
import type { LaunchPlan } from './plan-launch.ts';

export interface NpmSettings {
  readonly cache: string;
  /** Prefixes of global packages. */
  readonly prefixes: readonly string[];
}

/** Settings with which `npx` runs something else, or in another way. */
const CHANGE_THE_PROGRAM = [
  'call',
  'global',
  'location',
  'node-options',
  'package',
  'workspace',
  'workspaces',
];

/** Where Debian's npm has its global packages. */
const USUAL_PREFIX = '/usr/local';

type Values = ReadonlyMap<string, string>;

/**
 * Returns the settings of a launch of `npx`; undefined if they change the program, or cannot be resolved here.
 *
 * @param start the folder in which npx searches for a project
 */
export function npmSettings(launch: LaunchPlan, start: string): NpmSettings | undefined {
  const { env } = launch;
  const { HOME: home = homedir() } = env;
  const given = fromEnvironment(env);
  const installed = prefixesOf(launch);
  const files = [
    ...foldersAbove(start).map((folder) => join(folder, '.npmrc')),
    given.get('userconfig') ?? join(home, '.npmrc'),
    ...[given.get('globalconfig') ?? installed.map((prefix) => join(prefix, 'etc', 'npmrc'))].flat(),
  ];
  const layers = [given, ...files.map(fromFile)];
  const settingOf = (name: string): string | undefined =>
    layers.map((layer) => layer.get(name)?.trim()).find((value) => value !== undefined && value !== '');
  if (CHANGE_THE_PROGRAM.some((name) => settingOf(name) !== undefined)) return undefined;
  const cache = absolute(settingOf('cache') ?? '~/.npm', home);
  const prefix = absolute(settingOf('prefix') ?? USUAL_PREFIX, home);
  if (cache === undefined || prefix === undefined) return undefined;
  return { cache, prefixes: [...new Set([prefix, ...installed])] };
}

/** The folder and every folder above it, the nearest first. */
export function foldersAbove(start: string): readonly string[] {
  const folder = resolve(start);
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)];
}

/** The prefixes of the Node and the npm that are found on the search path. */
function prefixesOf({ command, env }: LaunchPlan): readonly string[] {
  const { PATH = '' } = env;
  const programs = [findProgram('node', PATH), findProgram(command, PATH)];
  const files = programs.flatMap((file) => (file === undefined ? [] : [file, realPath(file)]));
  return [...new Set(files.map((file) => dirname(dirname(file))))];
}

function absolute(path: string, home: string): string | undefined {
  const full = path.startsWith('~/') ? join(home, path.slice(2)) : path;
  return isAbsolute(full) && !full.includes('${') ? full : undefined;
}

function fromEnvironment(env: LaunchPlan['env']): Values {
  const values = Object.entries(env).flatMap(([variable, value]) => {
    const [, name] = /^npm_config_(?!_)(.+)$/i.exec(variable) ?? [];
    return name === undefined ? [] : [[name.toLowerCase().replaceAll('_', '-'), value] as const];
  });
  return new Map(values);
}

/** Only single values are read; a section or a list contains none of the names that are used here. */
function fromFile(file: string): Values {
  const text = attempt(() => readFileSync(file, 'utf8'), '');
  const values = text.split('\n').flatMap((line) => {
    const [, name, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    return name === undefined || value === undefined
      ? []
      : [[name, value.replace(/^(["'])(.*)\1$/, '$2')] as const];
  });
  return new Map(values);
}
