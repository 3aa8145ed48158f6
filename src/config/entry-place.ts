/** Finds the location of a server's entry, even if the entry is invalid. */

import { readDocument } from './document.ts';
import { type EditTarget, editTarget, serversPath, targetOf } from './edit-config.ts';
import type { ServerSpec } from './entry.ts';
import type { Home } from './home.ts';
import type { LoadedConfig } from './load.ts';
import { EDITABLE_SCOPES, type EditableScope, isEditable } from './scopes.ts';
import { valueAt } from './value-at.ts';

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
