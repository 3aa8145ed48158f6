/** Decides which entry is used when a name is in several places: pure, and every spec keeps where it is from. */

import type { Scope, ServerSpec } from './entry.ts';

/** Strongest first. The one place that decides between scopes. */
export const PRECEDENCE: readonly Scope[] = ['managed', 'code', 'local', 'project', 'user', 'plugin'];

export interface Merged {
  /** One per name: by strength of scope, then in the order given. */
  readonly servers: readonly ServerSpec[];
  /** Those that a stronger one of the same name hides, strongest first. */
  readonly shadowed: readonly ServerSpec[];
  /** Entries of a project or plugin that are not approved, where another entry of their name is used instead. */
  readonly waiting: readonly ServerSpec[];
}

/**
 * The whole entry of the stronger scope wins; within one scope the first one given does, so the
 * nearer file comes first.
 *
 * @param passesOver true for an entry without consent: it is used only if no other entry has its name
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

/** All specs of a merge, as `mergeSpecs` can take them again: strongest first within each name. */
export function allSpecs({ servers, shadowed, waiting }: Merged): readonly ServerSpec[] {
  return [...waiting, ...servers, ...shadowed];
}

function inOrder(specs: readonly ServerSpec[]): ServerSpec[] {
  return specs.toSorted((a, b) => PRECEDENCE.indexOf(a.scope) - PRECEDENCE.indexOf(b.scope));
}

function rank({ scope, builtIn }: ServerSpec): number {
  return builtIn === true ? PRECEDENCE.length : PRECEDENCE.indexOf(scope);
}
