/** `plugboard add --preset`: lists the presets, or adds one of them as a server. */

import { resolve } from 'node:path';
import { type EditableScope, isForeign } from '../../config/scopes.ts';
import { PlugboardError } from '../../errors.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Context, Flags } from '../cli-command.ts';
import { ownProgram } from '../own-program.ts';
import { saveServer } from '../save-server.ts';
import { scopeFlag } from '../scope-flag.ts';
import { layOut } from '../text-layout.ts';
import { entryOf, type Need, PRESETS, type Preset, type Values } from './preset-table.ts';

/** Flags that can be combined with a preset; every other flag describes a custom entry. */
const FITTING: ReadonlySet<string> = new Set(['preset', 'scope', 'force']);
/**
 * The installed command. `npx plugboard` in a cloned folder would start any program that the folder calls plugboard.
 */
const PORTABLE: readonly string[] = ['plugboard'];

export async function addPreset(context: Context, args: readonly string[], flags: Flags): Promise<number> {
  const other = Object.keys(flags).find((name) => !FITTING.has(name));
  if (other !== undefined || context.afterDashes !== undefined) {
    throw new PlugboardError('USAGE', '--preset can only be combined with --scope and --force', {
      hint: 'Write plugboard add --preset <id> [name] [key=value…], and change the entry afterwards.',
    });
  }
  const id = flags['preset'];
  if (typeof id !== 'string') return listPresets(context);
  const preset = find(id);
  const [first] = args;
  const name = first === undefined || first.includes('=') ? preset.id : first;
  const given = parseValues(preset, name === first ? args.slice(1) : args);
  const scope = scopeFlag(flags) ?? 'local';
  const { values, version, unset, secrets } = await fill(context, preset, given, { name, scope });
  const raw = entryOf(preset, values, {
    version,
    ownProgram: isForeign({ scope }) ? PORTABLE : ownProgram(context.env),
    // A project's servers start in the project, and other agents that read the file do not support ${PROJECT_DIR}.
    project: isForeign({ scope }) ? '.' : '${PROJECT_DIR}',
  });
  const replace = flags['force'] === true;
  // Secrets were rejected above; the remaining values are the preset's own.
  const status = await saveServer(context, { name, raw, scope, replace, allowSecret: false });
  for (const [id, secret] of secrets) {
    const { openInputs } = await import('../settle-inputs.ts');
    await openInputs(context).set({ id, owner: '' }, secret);
  }
  for (const note of [preset.note?.replace('<name>', name), ...unset.map(notSet)]) {
    if (note !== undefined) context.output.note(note);
  }
  return status;
}

function find(id: string): Preset {
  const found = PRESETS.find((preset) => preset.id === id);
  if (found !== undefined) return found;
  const [meant] = nearest(
    id,
    PRESETS.map((preset) => preset.id),
  );
  const more = 'Run plugboard add --preset to list all of them.';
  throw new PlugboardError('USAGE', `There is no preset called ${JSON.stringify(id)}`, {
    hint: meant === undefined ? more : `Did you mean ${meant}? ${more}`,
  });
}

function listPresets({ output }: Context): number {
  output.answer({ presets: PRESETS.map(described) }, () => {
    const rows = PRESETS.map(({ id, title, needs = [] }) => [id, needs.map(shortly).join(', '), title]);
    const lines = layOut([['preset', 'needs', 'for'], ...rows], {
      columns: [
        { paint: (cell, row) => (row === 0 ? output.paint.faint(cell) : output.paint.strong(cell)) },
        { paint: output.paint.faint },
        { paint: (cell, row) => (row === 0 ? output.paint.faint(cell) : cell) },
      ],
      total: output.columns,
    });
    return [...lines, '', 'Add one: plugboard add --preset <id> [name] [key=value…]'].join('\n');
  });
  return 0;
}

function shortly(need: Need): string {
  if (need.kind === 'secret') return need.variable;
  return need.fallback === undefined ? need.key : `[${need.key}]`;
}

/** Returns a preset's data, without its functions. */
function described(preset: Preset): Readonly<Record<string, unknown>> {
  const { id, title, needs = [], note } = preset;
  return {
    id,
    title,
    transport: 'url' in preset ? 'http' : 'stdio',
    ...('package' in preset ? { package: preset.package, version: preset.version } : {}),
    ...('url' in preset ? { url: preset.url } : {}),
    needs,
    ...(note === undefined ? {} : { note }),
  };
}

function notSet(variable: string): string {
  return `${variable} is not set yet; the server needs it when it is started.`;
}

const REFERENCE = /^\$\{[A-Za-z_]\w*\}$/;
/** Argument of every package preset: the package's version. */
const VERSION = 'version';

/** Collects the values of a preset: from arguments, from defaults and the environment, and by asking. */
interface Filled {
  readonly values: Values;
  readonly version: string | undefined;
  /** Variables that the entry refers to but are not set here. */
  readonly unset: readonly string[];
  /** Secrets that were typed, by the ids that the entry refers to. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Name and scope of the entry to write. */
interface Target {
  readonly name: string;
  readonly scope: EditableScope;
}

/** Parses `key=value` arguments; rejects an unknown key and suggests the nearest one. */
function parseValues(preset: Preset, words: readonly string[]): Map<string, string> {
  const needs = (preset.needs ?? []).map(({ key }) => key);
  const known = 'package' in preset ? [...needs, VERSION] : needs;
  const given = new Map<string, string>();
  for (const word of words) {
    const at = word.indexOf('=');
    const key = word.slice(0, Math.max(at, 0));
    if (at < 1) throw usage(`${JSON.stringify(word)} is not key=value`, shape(preset));
    if (!known.includes(key)) {
      const [meant] = nearest(key, known);
      throw usage(
        `The preset ${preset.id} has no ${JSON.stringify(key)}`,
        meant === undefined ? shape(preset) : `Did you mean ${JSON.stringify(meant)}?`,
      );
    }
    given.set(key, word.slice(at + 1));
  }
  return given;
}

/** Finds a value for every need. Asks on a terminal; otherwise throws an error that names the missing values. */
async function fill(
  context: Context,
  preset: Preset,
  given: ReadonlyMap<string, string>,
  { name, scope }: Target,
): Promise<Filled> {
  const { env, output, cwd } = context;
  const values: Record<string, string> = {};
  const unset: string[] = [];
  const secrets = new Map<string, string>();
  const missing: Need[] = [];
  for (const need of preset.needs ?? []) {
    const value = given.get(need.key) ?? customary(need, env, scope);
    if (value === undefined) missing.push(need);
    else values[need.key] = absolutePath(need, checked(need, value, scope), { scope, cwd });
  }
  if (missing.length > 0 && !output.canAsk) throw lacking(preset, missing);
  for (const need of missing) {
    if (need.kind === 'argument') {
      values[need.key] = absolutePath(need, await askForArgument(context, preset, need), { scope, cwd });
      continue;
    }
    // A project's file is shared with people who have their own keys, and with agents that only support variables.
    const secret = isForeign({ scope }) ? '' : await askForKey(context, preset, need);
    const id = `${name}-${need.key}`;
    if (secret === '') unset.push(need.variable);
    else secrets.set(id, secret);
    values[need.key] = secret === '' ? `\${${need.variable}}` : `\${input:${id}}`;
  }
  return { values, version: given.get(VERSION), unset, secrets };
}

/** Resolves a relative path from the person's folder, except for project scope, whose servers start in the project. */
function absolutePath(
  need: Need,
  value: string,
  { scope, cwd }: { readonly scope: EditableScope; readonly cwd: string },
): string {
  const isPath = need.kind === 'argument' && need.isPath === true && !isForeign({ scope });
  return isPath && !/^(?:\$|~)/.test(value) ? resolve(cwd, value) : value;
}

function customary(need: Need, env: NodeJS.ProcessEnv, scope: EditableScope): string | undefined {
  // A project's servers start in the project folder, and other agents that read it do not support ${PROJECT_DIR}.
  if (need.kind === 'argument') return isForeign({ scope }) && need.isProject ? '.' : need.fallback;
  return env[need.variable] ? `\${${need.variable}}` : undefined;
}

/** Rejects an empty value, and a secret in a project's file, which everyone with the project can read. */
function checked(need: Need, value: string, scope: EditableScope): string {
  if (value === '') throw usage(`${need.key} is empty`, `It is ${need.description}.`);
  if (need.kind === 'secret' && isForeign({ scope }) && !REFERENCE.test(value)) {
    throw usage(
      `Refusing to write a secret (${need.key}) into .mcp.json, which is shared`,
      `Set ${need.variable}, and leave ${need.key} out or write ${need.key}='\${${need.variable}}'.`,
    );
  }
  return value;
}

type Argument = Extract<Need, { kind: 'argument' }>;
type Secret = Extract<Need, { kind: 'secret' }>;

async function askForArgument(context: Context, preset: Preset, need: Argument): Promise<string> {
  const { askForText } = await import('../ask.ts');
  const answer = (await askForText(context, `${preset.id} needs ${need.description}:`)).trim();
  if (answer === '') throw lacking(preset, [need]);
  return answer;
}

/** Asks for the secret, which is not written to a configuration file; '' if it comes from the environment. */
async function askForKey(context: Context, { id }: Preset, need: Secret): Promise<string> {
  const { askForSecret } = await import('../ask.ts');
  const question = `${id} needs ${need.description} (${need.where}). It is stored in the system's keyring, or in a file that only you can read. Leave it empty to read it from ${need.variable}.`;
  return (await askForSecret(context, question)).trim();
}

function lacking(preset: Preset, missing: readonly Need[]): PlugboardError {
  const what = missing.map((need) =>
    need.kind === 'secret'
      ? `${need.description} in ${need.variable}, which is not set (${need.where})`
      : `${need.key}: ${need.description}`,
  );
  const how = missing.map((need) =>
    need.kind === 'secret' ? `${need.key}='\${${need.variable}}'` : `${need.key}=…`,
  );
  return usage(
    `The preset ${preset.id} needs ${what.join('; ')}`,
    `plugboard add --preset ${preset.id} ${how.join(' ')} adds it anyway.`,
  );
}

function shape({ id, needs = [] }: Preset): string {
  return `Write plugboard add --preset ${id} [name]${needs.map(({ key }) => ` [${key}=…]`).join('')}.`;
}

function usage(message: string, hint: string): PlugboardError {
  return new PlugboardError('USAGE', message, { hint });
}
