/** Decides which entry is used when several have the same name. Pure; every spec keeps its source. */

import type { ServerSpec } from './entry.ts';
import { PRECEDENCE } from './scopes.ts';

export interface Merged {
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
