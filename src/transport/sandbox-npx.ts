/**
 * Runs npx inside a sandbox. npm writes to its cache even to read it, and cached code later runs outside of the
 * sandbox, so the cache is not shared. A package that npx has already installed is run directly; another one is
 * downloaded for this process only, if it has network.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { isRecord } from '../lib/json.ts';

interface Launched {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface Launcher {
  readonly network: boolean;
  readonly person: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Without network the launchers fail at once instead of after a minute. */
const OFFLINE = { npm_config_offline: 'true', UV_OFFLINE: '1' };

/** Returns the same program, or the installed package instead of npx; `env`: variables to add. */
export function confinedLauncher({ command, args }: Launched, launcher: Launcher): Required<Launched> {
  const env = launcher.network ? {} : OFFLINE;
  const wanted = basename(command) === 'npx' ? readArguments(args) : undefined;
  const script = wanted === undefined ? undefined : preparedScript(wanted.spec, launcher);
  if (wanted === undefined || script === undefined) return { command, args, env };
  return { command: script, args: wanted.rest, env };
}

/** Returns the package and its own arguments; undefined for options that change more than npx's prompt. */
function readArguments(args: readonly string[]): { spec: string; rest: readonly string[] } | undefined {
  let at = 0;
  for (; args[at]?.startsWith('-') === true; at += 1) {
    const option = args[at];
    if (option === '--prefix') at += 1;
    else if (option === '--') continue;
    else if (!/^(?:-y|--yes|-q|--quiet|--offline|--prefer-offline|--prefix=.*)$/.test(option ?? ''))
      return undefined;
  }
  const spec = args[at];
  return spec === undefined ? undefined : { spec, rest: args.slice(at + 1) };
}

function preparedScript(spec: string, { person, env }: Launcher): string | undefined {
  const cache = env['npm_config_cache'] ?? env['NPM_CONFIG_CACHE'] ?? join(person, '.npm');
  const trees = join(cache, '_npx');
  if (!isAbsolute(trees) || !existsSync(trees)) return undefined;
  for (const tree of readdirSync(trees)) {
    const prepared = readJson(join(trees, tree, 'package.json'));
    const { packages } = isRecord(prepared?.['_npx']) ? prepared['_npx'] : {};
    if (!Array.isArray(packages) || packages.length !== 1 || packages[0] !== spec) continue;
    const [name] = isRecord(prepared?.['dependencies']) ? Object.keys(prepared['dependencies']) : [];
    const folder = join(trees, tree, 'node_modules', name ?? '');
    const script = name === undefined ? undefined : binOf(name, readJson(join(folder, 'package.json')));
    if (script !== undefined && existsSync(join(folder, script))) return join(folder, script);
  }
  return undefined;
}

/** Selects the program like npx: the only one, or the one named like the package. */
function binOf(name: string, manifest: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const bin = manifest?.['bin'];
  if (typeof bin === 'string') return bin;
  if (!isRecord(bin)) return undefined;
  const programs = [...new Set(Object.values(bin))];
  const [only] = programs;
  const chosen = programs.length === 1 ? only : bin[name.replace(/^@[^/]+\//, '')];
  return typeof chosen === 'string' ? chosen : undefined;
}

function readJson(file: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
