/** `plugboard add --preset`: lists the presets, or adds one of them as a server. */

import type { LockedServer } from '../../config/lock-file.ts';
import { type EditableScope, isForeign } from '../../config/scopes.ts';
import { PlugboardError } from '../../errors.ts';
import { nearest } from '../../lib/nearest.ts';
import { type Need, PRESETS, type Preset, type Values } from '../../setup/preset-table.ts';
import {
  absolutePath,
  describedPreset,
  findPreset,
  knownValues,
  presetEntry,
} from '../../setup/preset-values.ts';
import type { Context, Flags } from '../cli-command.ts';
import { saveServer } from '../save-server.ts';
import { scopeFlag } from '../scope-flag.ts';
import { layOut } from '../text-layout.ts';

/** Flags that can be combined with a preset; every other flag describes a custom entry. */
const FITTING: ReadonlySet<string> = new Set(['preset', 'scope', 'force']);
export async function addPreset(context: Context, args: readonly string[], flags: Flags): Promise<number> {
  const other = Object.keys(flags).find((name) => !FITTING.has(name));
  if (other !== undefined || context.afterDashes !== undefined) {
    throw new PlugboardError('USAGE', '--preset can only be combined with --scope and --force', {
      hint: 'Write plugboard add --preset <id> [name] [key=value…], and change the entry afterwards.',
    });
  }
  const id = flags['preset'];
  if (typeof id !== 'string') return listPresets(context);
  const preset = findPreset(id);
  const [first] = args;
  const name = first === undefined || first.includes('=') ? preset.id : first;
  const given = parseValues(preset, name === first ? args.slice(1) : args);
  const scope = scopeFlag(flags) ?? 'local';
  const { values, version, unset, secrets } = await fill(context, preset, given, { name, scope });
  const raw = presetEntry(preset, values, { version, scope, env: context.env });
  const replace = flags['force'] === true;
  // Secrets were rejected above; the remaining values are the preset's own.
  const lock = 'package' in preset ? await lockOf(preset, version) : undefined;
  const status = await saveServer(context, { name, raw, scope, replace, allowSecret: false, lock });
  for (const [id, secret] of secrets) {
    const { openInputs } = await import('../settle-inputs.ts');
    await openInputs(context).set({ id, owner: '' }, secret);
  }
  for (const note of [preset.note?.replace('<name>', name), ...unset.map(notSet)]) {
    if (note !== undefined) context.output.note(note);
  }
  return status;
}

/** The tested version comes with its lock; another one is locked by `plugboard lock`. */
async function lockOf(
  preset: Extract<Preset, { package: string }>,
  version: string | undefined,
): Promise<LockedServer | undefined> {
  if (version !== undefined && version !== preset.version) return undefined;
  const { presetLock } = await import('./preset-locks.ts');
  return presetLock(preset.package, preset.version);
}

function listPresets({ output }: Context): number {
  output.answer({ presets: PRESETS.map(describedPreset) }, () => {
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

function notSet(variable: string): string {
  return `${variable} is not set yet; the server needs it when it is started.`;
}

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
  const { output, cwd } = context;
  const values: Record<string, string> = {};
  const unset: string[] = [];
  const secrets = new Map<string, string>();
  const missing: Need[] = [];
  const known = knownValues(context, preset, given, scope);
  Object.assign(values, known.values);
  missing.push(...known.missing);
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
