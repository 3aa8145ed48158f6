/**
 * Implements `plugboard __complete -- <words>` for shell completion, from files alone. It is a separate bundle that
 * loads neither commander nor any command, because the person is waiting for the key press to take effect.
 */

import { readFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { type KnownContent, knownContent, knownTools } from '../../catalog/known-tools.ts';
import { isRemote, type ServerSpec } from '../../config/entry.ts';
import { findHome } from '../../config/home.ts';
import { inputIds } from '../../config/inputs.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { defined } from '../../lib/defined.ts';
import { isRecord } from '../../lib/json.ts';
import { oneLine } from '../../policy/clean.ts';
import { needsConsent } from '../../policy/needs-consent.ts';
import { type Candidate, type Completion, complete, type Names } from './candidates.ts';
import type { NamedKind, Vocabulary } from './vocabulary.ts';

const STDOUT = 1;
/** File with the data of all commands, written by the build. */
const WORDS_FILE = '../../bin/command-words.json';
/** Writes one line per candidate, `value<TAB>about`, or one line that names the paths the shell completes itself. */
export async function runComplete(argv: readonly string[]): Promise<void> {
  const words = argv[0] === '--' ? argv.slice(1) : argv;
  const vocabulary = JSON.parse(readFileSync(new URL(WORDS_FILE, import.meta.url), 'utf8')) as Vocabulary;
  // An error message would appear in the middle of the line being typed, so errors give no candidates.
  const found = await complete(words, vocabulary, namesFromFiles()).catch((): Completion => []);
  writeSync(STDOUT, typeof found === 'string' ? `:${found}\n` : found.flatMap(lineOf).join(''));
}

function lineOf({ value, about = '', open }: Candidate): string[] {
  // Skips a name that has a line break or hidden characters: a cleaned name would not match anything.
  if (value === '' || oneLine(value) !== value) return [];
  return [`${value}\t${oneLine(about)}${open ? '\topen' : ''}\n`];
}

function namesFromFiles(): Names {
  const home = findHome(process.env);
  const load = async (cwd = '.'): Promise<LoadedConfig> => {
    // Loaded here because completing commands and flags does not need it.
    const { loadEffective } = await import('../../policy/effective.ts');
    return loadEffective({ cwd: resolve(cwd), home, env: process.env });
  };
  const known = async (cwd: string | undefined, server: string, kind: 'tool' | KnownContent) => {
    const spec = (await load(cwd)).servers.find(({ name }) => name === server);
    if (spec === undefined) return [];
    return kind === 'tool' ? knownTools(home, spec) : knownContent(home, spec, kind);
  };
  return {
    async of(kind, cwd, server) {
      switch (kind) {
        case 'tool':
          return (await known(cwd, server, 'tool')).map(named);
        case 'prompt':
          return (await known(cwd, server, 'prompts')).map(named);
        case 'resource':
          return (await known(cwd, server, 'resources')).map(named);
        case 'entry-key':
          return keysOf((await load(cwd)).servers.find(({ name }) => name === server));
        case 'input':
          return inputsOf(await load(cwd));
        case 'plugin':
          return Object.keys((await load(cwd)).settings.plugins ?? {}).map((value) => ({ value }));
        case 'token': {
          const { readTokenFile, tokenFileOf } = await import('../../serve/token-file.ts');
          return readTokenFile(tokenFileOf(home)).tokens.map(({ name }) => ({ value: name }));
        }
        case 'program': {
          const { listPrograms } = await import('../../programs/saved-programs.ts');
          const { programs } = await listPrograms(home);
          return programs.map(({ name: value, description: about }) => ({ value, ...defined({ about }) }));
        }
        case 'profile': {
          const { profiles = {}, brokenProfiles = [] } = (await load(cwd)).settings;
          return [...new Set([...Object.keys(profiles), ...brokenProfiles])].map((value) => ({ value }));
        }
        case 'client': {
          const { readTokenFile, tokenFileOf } = await import('../../serve/token-file.ts');
          const tokens = readTokenFile(tokenFileOf(home)).tokens.map(({ name }) => name);
          const { clients = {} } = (await load(cwd)).settings;
          return [...new Set([...tokens, ...Object.keys(clients)])].map((value) => ({ value }));
        }
        default:
          return (await load(cwd)).servers
            .filter(SERVERS[kind])
            .map(({ name, scope }) => ({ value: name, about: `${scope} scope` }));
      }
    },
    async inOneWord(cwd) {
      const { plainName } = await import('../../catalog/tool-names.ts');
      return (await load(cwd)).servers.flatMap((spec) =>
        knownTools(home, spec).map(({ name: tool, about }) => ({
          server: spec.name,
          tool,
          spelling: plainName(spec.name, tool, 'gateway'),
          spellings: [
            `${spec.name}.${tool}`,
            `${spec.name}/${tool}`,
            plainName(spec.name, tool, 'gateway'),
            plainName(spec.name, tool, 'mcp__'),
          ],
          ...(about === undefined ? {} : { about }),
        })),
      );
    },
    async parameters(kind, cwd, server, name) {
      const rows = await known(cwd, server, kind === 'tool' ? 'tool' : 'prompts');
      return (rows.find((row) => row.name === name)?.parameters ?? []).map((parameter) => ({
        ...named(parameter),
        ...(parameter.values === undefined ? {} : { values: parameter.values }),
      }));
    },
  };
}

/** Filters for the servers that a command accepts. */
const SERVERS: Readonly<Record<`${string}server` & NamedKind, (spec: ServerSpec) => boolean>> = {
  server: () => true,
  'called-server': () => true,
  'enabled-server': ({ entry }) => entry.enabled !== false,
  'disabled-server': ({ entry }) => entry.enabled === false,
  'approvable-server': needsConsent,
  'remote-server': ({ entry }) => isRemote(entry) && entry.oauth !== false,
};

/** Members of `env`, `headers` and other objects can be named individually. */
function keysOf(spec: ServerSpec | undefined): Candidate[] {
  return Object.entries(spec?.raw ?? {}).flatMap(([key, value]) => [
    { value: key },
    ...(isRecord(value) ? Object.keys(value).map((member) => ({ value: `${key}.${member}` })) : []),
  ]);
}

function inputsOf(config: LoadedConfig): Candidate[] {
  const ids = new Map<string, string[]>();
  for (const spec of config.servers) {
    for (const id of inputIds(spec)) ids.set(id, [...(ids.get(id) ?? []), spec.name]);
  }
  return [...ids].map(([value, servers]) => ({ value, about: `used by ${servers.join(', ')}` }));
}

function named({ name, about }: { readonly name: string; readonly about?: string }): Candidate {
  return { value: name, ...(about === undefined ? {} : { about }) };
}
