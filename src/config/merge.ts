/** Which entry counts when a name stands in several places: pure, and every spec keeps where it came from. */

import type { Scope, ServerSpec } from './entry.ts';

/** Strongest first. The one place that decides between scopes. */
export const PRECEDENCE: readonly Scope[] = ['managed', 'code', 'local', 'project', 'user', 'plugin'];

export interface Merged {
  /** One per name: by strength of scope, then in the order given. */
  readonly servers: readonly ServerSpec[];
  /** Those that a stronger one of the same name hides, strongest first. */
  readonly shadowed: readonly ServerSpec[];
}

/**
 * The whole entry of the stronger scope wins; within one scope the first one given does, so the
 * nearer file comes first.
 */
export function mergeSpecs(specs: readonly ServerSpec[]): Merged {
  const byStrength = specs.toSorted((a, b) => PRECEDENCE.indexOf(a.scope) - PRECEDENCE.indexOf(b.scope));
  const servers = new Map<string, ServerSpec>();
  const shadowed: ServerSpec[] = [];
  for (const spec of byStrength) {
    if (servers.has(spec.name)) shadowed.push(spec);
    else servers.set(spec.name, spec);
  }
  return { servers: [...servers.values()], shadowed };
}
