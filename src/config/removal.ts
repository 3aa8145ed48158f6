/** Plans the removal of an entry: one location for a known server, every editable location for an invalid one. */

import { type EditTarget, editTarget, removeServer, targetOf } from './edit-config.ts';
import type { ServerSpec } from './entry.ts';
import type { Home } from './home.ts';
import type { LoadedConfig } from './load.ts';
import { EDITABLE_SCOPES, type EditableScope, isEditable } from './scopes.ts';

export interface Removal {
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
