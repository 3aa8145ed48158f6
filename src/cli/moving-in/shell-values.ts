/**
 * Finds variables set only in this shell, which agents with a small environment and HTTP clients cannot supply, and
 * stores their values.
 */

import { setServer, targetOf } from '../../config/edit-config.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { isPersonal } from '../../config/scopes.ts';
import { variablesOf, withStoredValues } from '../../config/variables.ts';
import { reveal } from '../../policy/clean.ts';
import type { SecretPlace } from '../../secrets/store.ts';
import { childEnvironment } from '../../transport/server-environment.ts';
import type { Context } from '../cli-command.ts';
import { openInputs } from '../settle-inputs.ts';
import { type HomeServer, recordHomeEdits, recordStoredInputs } from './recorded-edits.ts';

/** One variable and the servers that refer to it. */
export interface ShellValue {
  readonly variable: string;
  readonly servers: readonly string[];
}

/** An entry in config.json, present or about to be written. */
interface OwnEntry {
  readonly name: string;
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Returns the entries of our own file. Entries of a project are shared, and each person has their own values. */
export function ownEntries({ servers }: LoadedConfig): readonly (OwnEntry & HomeServer)[] {
  return servers.filter(isPersonal).map(({ name, scope, raw }) => ({ name, scope, raw }));
}

export function findShellValues(env: NodeJS.ProcessEnv, entries: readonly OwnEntry[]): readonly ShellValue[] {
  // PATH, HOME and similar variables are always set.
  const ambient = childEnvironment({}, env);
  const users = new Map<string, string[]>();
  for (const { name, raw } of entries) {
    for (const variable of variablesOf(raw)) {
      if (!env[variable] || Object.hasOwn(ambient, variable)) continue;
      users.set(variable, [...(users.get(variable) ?? []), name]);
    }
  }
  return [...users].map(([variable, servers]) => ({ variable, servers }));
}

/** Stores the values and replaces the variables in the entries with references to them. */
export async function storeShellValues(
  context: Context,
  config: LoadedConfig,
  values: readonly ShellValue[],
): Promise<ReadonlyMap<string, SecretPlace>> {
  const { home, env, signal } = context;
  const { projectRoot } = config;
  const names = new Set(values.map(({ variable }) => variable));
  const store = openInputs(context);
  await recordStoredInputs(context, [...names]);
  const places = new Map<string, SecretPlace>();
  for (const id of names) places.set(id, await store.set({ id, owner: '' }, env[id] ?? ''));
  const users = config.servers.filter(
    (spec) => isPersonal(spec) && values.some(({ servers }) => servers.includes(spec.name)),
  );
  await recordHomeEdits(context, projectRoot, ownEntries({ ...config, servers: users }), async () => {
    for (const spec of users) {
      const raw = withStoredValues(spec.raw, names);
      await setServer(targetOf(spec, { home, projectRoot }), spec.name, raw, { home, signal, replace: true });
    }
  });
  return places;
}

export function shellValueLines(values: readonly ShellValue[]): readonly string[] {
  return [
    'Only this shell has them; editors, HTTP clients and agents with a small environment cannot supply them:',
    ...values.map(({ variable, servers }) => `  ${variable}  used by ${servers.map(reveal).join(', ')}`),
  ];
}
