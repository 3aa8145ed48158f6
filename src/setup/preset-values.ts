/** Collects the values of presets, and returns the entries of their servers. */

import { resolve } from 'node:path';
import { type EditableScope, isForeign } from '../config/scopes.ts';
import { PlugboardError } from '../errors.ts';
import type { JsonObject } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import { ownProgram } from './own-program.ts';
import { entryOf, type Need, PRESETS, type Preset, type Values } from './preset-table.ts';
import type { SetupContext } from './setup-context.ts';

/**
 * The installed command. `npx plugboard` in a cloned folder would start any program that the folder calls plugboard.
 */
const PORTABLE: readonly string[] = ['plugboard'];

export function findPreset(id: string): Preset {
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

/** Returns a preset's data, without its functions. */
export function describedPreset(preset: Preset): Readonly<Record<string, unknown>> {
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

/** Returns the entry of a preset. */
export function presetEntry(
  preset: Preset,
  values: Values,
  {
    version,
    scope,
    env,
  }: {
    readonly version: string | undefined;
    readonly scope: EditableScope;
    readonly env: NodeJS.ProcessEnv;
  },
): JsonObject {
  return entryOf(preset, values, {
    version,
    ownProgram: isForeign({ scope }) ? PORTABLE : ownProgram(env),
    // A project's servers start in the project, and other agents that read the file do not support ${PROJECT_DIR}.
    project: isForeign({ scope }) ? '.' : '${PROJECT_DIR}',
  });
}

/** Returns a value for every need that has one: given, from the environment, or its default. */
export function knownValues(
  { env, cwd }: Pick<SetupContext, 'env' | 'cwd'>,
  preset: Preset,
  given: ReadonlyMap<string, string>,
  scope: EditableScope,
): { readonly values: Values; readonly missing: readonly Need[] } {
  const values: Record<string, string> = {};
  const missing: Need[] = [];
  for (const need of preset.needs ?? []) {
    const value = given.get(need.key) ?? customary(need, env, scope);
    if (value === undefined) missing.push(need);
    else values[need.key] = absolutePath(need, checked(need, value, scope), { scope, cwd });
  }
  return { values, missing };
}

export interface FilledPreset {
  readonly entry: JsonObject;
  /** Secrets that were given, by the ids of the inputs that the entry refers to. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Variables that the entry refers to and that are not set. */
  readonly unset: readonly string[];
  readonly note?: string;
}

/**
 * Returns the entry of a preset with the values that a person has typed into a form.
 *
 * @throws PlugboardError USAGE for an unknown preset, INVALID_ARGUMENTS for a value that is missing.
 */
export function filledPreset(
  context: SetupContext,
  id: string,
  given: Readonly<Record<string, string>>,
  { name, scope }: { readonly name: string; readonly scope: EditableScope },
): FilledPreset {
  const preset = findPreset(id);
  const secrets = new Map<string, string>();
  const typed = new Map(Object.entries(given).filter(([, value]) => value !== ''));
  for (const need of preset.needs ?? []) {
    const value = typed.get(need.key);
    if (need.kind !== 'secret' || value === undefined || REFERENCE.test(value) || isForeign({ scope }))
      continue;
    const input = `${name}-${need.key}`;
    secrets.set(input, value);
    typed.set(need.key, `\${input:${input}}`);
  }
  const { values, missing } = knownValues(context, preset, typed, scope);
  const filled: Record<string, string> = { ...values };
  const unset: string[] = [];
  for (const need of missing) {
    if (need.kind === 'argument')
      throw new PlugboardError('INVALID_ARGUMENTS', `The preset ${id} needs ${need.description}`, {
        detail: { place: { path: ['values', need.key] } },
      });
    filled[need.key] = `\${${need.variable}}`;
    unset.push(need.variable);
  }
  const entry = presetEntry(preset, filled, { version: given['version'], scope, env: context.env });
  return { entry, secrets, unset, ...(preset.note === undefined ? {} : { note: preset.note }) };
}

const REFERENCE = /^\$\{[A-Za-z_]\w*\}$/;
/** Resolves a relative path from the person's folder, except for project scope, whose servers start in the project. */
export function absolutePath(
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

function usage(message: string, hint: string): PlugboardError {
  return new PlugboardError('USAGE', message, { hint });
}
