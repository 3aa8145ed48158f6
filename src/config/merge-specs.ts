/**
 * Decides which entry is used when several have the same name, and which previous ones are kept while a file is
 * unreadable. Pure; every spec keeps its source.
 */

import type { ServerSpec } from './entry.ts';
import type { LoadedConfig } from './load.ts';
import { PRECEDENCE } from './scopes.ts';

interface Merged {
  /** One per name: by precedence of scope, then in the given order. */
  readonly servers: readonly ServerSpec[];
  /** Entries that a stronger one of the same name hides, strongest first. */
  readonly shadowed: readonly ServerSpec[];
  /** Unapproved entries of a project or plugin, where another entry of their name is used instead. */
  readonly waiting: readonly ServerSpec[];
}

/**
 * Uses the whole entry of the stronger scope; within one scope the first one, so the nearer file comes first.
 *
 * @param passesOver true for an unapproved entry: it is used only if no other entry has its name
 */
export function mergeSpecs(
  specs: readonly ServerSpec[],
  passesOver: (spec: ServerSpec) => boolean = () => false,
): Merged {
  const byName = new Map<string, ServerSpec[]>();
  for (const spec of specs.toSorted((a, b) => rank(a) - rank(b))) {
    byName.set(spec.name, [...(byName.get(spec.name) ?? []), spec]);
  }
  const servers: ServerSpec[] = [];
  const shadowed: ServerSpec[] = [];
  const waiting: ServerSpec[] = [];
  for (const all of byName.values()) {
    const used = all.find((spec) => !passesOver(spec)) ?? all[0];
    if (used === undefined) continue;
    servers.push(used);
    waiting.push(...all.slice(0, all.indexOf(used)));
    shadowed.push(...all.slice(all.indexOf(used) + 1));
  }
  return { servers: inOrder(servers), shadowed: inOrder(shadowed), waiting };
}

/** Returns all specs of a merge as input for `mergeSpecs`: strongest first within each name. */
export function allSpecs({ servers, shadowed, waiting }: Merged): readonly ServerSpec[] {
  return [...waiting, ...servers, ...shadowed];
}

function inOrder(specs: readonly ServerSpec[]): ServerSpec[] {
  return specs.toSorted((a, b) => PRECEDENCE.indexOf(a.scope) - PRECEDENCE.indexOf(b.scope));
}

function rank({ scope, builtIn }: ServerSpec): number {
  return builtIn === true ? PRECEDENCE.length : PRECEDENCE.indexOf(scope);
}

/**
 * Returns the new configuration, with the previous servers of files that cannot be read now. A half-saved file must not
 * stop servers. `config.json` also has rules, profiles, plugins and switches of other entries: while it cannot be read,
 * everything but managed settings is kept as it was.
 */
export function keepUnreadable(before: LoadedConfig, now: LoadedConfig): LoadedConfig {
  if (now.unreadable.length === 0) return now;
  const [own] = now.files;
  const isKept = own !== undefined && now.unreadable.includes(own) && !before.unreadable.includes(own);
  const isManaged = ({ scope }: ServerSpec): boolean => scope === 'managed';
  const isLost = (spec: ServerSpec): boolean =>
    isKept ? !isManaged(spec) : spec.file !== undefined && now.unreadable.includes(spec.file);
  const kept = allSpecs(before).filter(isLost);
  const read = isKept ? allSpecs(now).filter(isManaged) : allSpecs(now);
  const files = isKept ? [...new Set([...now.files, ...before.files])] : now.files;
  // The nearer file keeps its precedence.
  const nearness = ({ file }: ServerSpec): number => (file === undefined ? -1 : files.indexOf(file));
  const all = [...read, ...kept].toSorted((a, b) => nearness(a) - nearness(b));
  return {
    ...now,
    ...mergeSpecs(all),
    files,
    // The content of the others is known: it is the previous one.
    unreadable: now.unreadable.filter((file) => before.unreadable.includes(file)),
    inputs: isKept ? before.inputs : now.inputs,
    settings: isKept ? before.settings : now.settings,
  };
}
