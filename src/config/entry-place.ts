/** Finds the location of a server's entry, even if the entry is invalid, to change or remove it. */

import { valueAt } from '../lib/json.ts';
import { readDocument } from './document.ts';
import { type EditTarget, editTarget, removeServer, serversPath, targetOf } from './edit-config.ts';
import type { ServerSpec } from './entry.ts';
import type { Home } from './home.ts';
import type { LoadedConfig } from './load.ts';
import { EDITABLE_SCOPES, type EditableScope, isEditable } from './scopes.ts';

export interface EntryPlace {
  readonly target: EditTarget;
  /** The value in the file. */
  readonly value: unknown;
  /** Undefined for an invalid entry. */
  readonly spec: ServerSpec | undefined;
}

/** Returns the entry in use, or that of the requested scope; undefined if commands cannot write it. */
export async function placeOfEntry(
  config: LoadedConfig,
  name: string,
  { scope: wanted, home }: { readonly scope: EditableScope | undefined; readonly home: Home },
): Promise<EntryPlace | undefined> {
  const where = { home, projectRoot: config.projectRoot };
  const fits = (scope: EditableScope): boolean => wanted === undefined || scope === wanted;
  const spec = [...config.servers, ...config.waiting, ...config.shadowed].find(
    (each) => each.name === name && each.builtIn !== true && isEditable(each.scope) && fits(each.scope),
  );
  const targets =
    spec === undefined
      ? EDITABLE_SCOPES.filter(fits).map((scope) => editTarget(scope, where))
      : [targetOf(spec, where)];
  for (const target of targets) {
    const value = await valueIn(target, name);
    if (value !== undefined) return { target, value, spec };
  }
  return undefined;
}

async function valueIn(target: EditTarget, name: string): Promise<unknown> {
  const { value } = await readDocument(target.file);
  return valueAt(value, [...serversPath(target, value), name]);
}

interface Removal {
  /** Every entry of that name, the one in use first. */
  readonly found: readonly ServerSpec[];
  /** More than one if the user has to choose. */
  readonly scopes: readonly EditableScope[];
  /** Removes it from the first location that has it; undefined if none has. */
  run(signal?: AbortSignal): Promise<EditTarget | undefined>;
}

export function planRemoval(
  config: LoadedConfig,
  name: string,
  wanted: EditableScope | undefined,
  home: Home,
): Removal {
  const where = { home, projectRoot: config.projectRoot };
  const found = [...config.servers, ...config.waiting, ...config.shadowed].filter(
    (spec) => spec.name === name && spec.builtIn !== true,
  );
  const candidates = found.filter(
    ({ scope }) => isEditable(scope) && (wanted === undefined || scope === wanted),
  );
  const [strongest] = candidates;
  const scopes = [...new Set(candidates.map(({ scope }) => scope))].filter(isEditable);
  const anywhere = wanted === undefined ? EDITABLE_SCOPES : [wanted];
  const elsewhereOnly = found.length > 0 && wanted === undefined;
  const fallback = elsewhereOnly ? [] : anywhere.map((scope) => editTarget(scope, where));
  const targets = strongest === undefined ? fallback : [targetOf(strongest, where)];
  return {
    found,
    scopes,
    async run(signal) {
      for (const target of targets) {
        if (await removeServer(target, name, { home, signal })) return target;
      }
      return undefined;
    },
  };
}
