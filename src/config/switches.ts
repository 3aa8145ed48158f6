/**
 * A user's own switches for the servers of one project: `projects["<folder>"].servers`, which override their entries.
 */

import { PROJECT_SERVERS } from './config-keys.ts';
import type { ServerSpec } from './entry.ts';
import type { Fault, JsonPath } from './fault.ts';
import { isSwitchable, ownerName } from './scopes.ts';

/** Enabled or disabled, by server name. */
export type Switches = ReadonlyMap<string, boolean>;

/** Who disabled a server, and in which file. */
export interface SwitchedOff {
  readonly by: 'you' | 'project' | 'plugin' | 'managed' | 'code';
  readonly file?: string;
}

/** Parses `servers` of a project; an invalid value is reported and ignored. */
export function parseSwitches(
  value: unknown,
  path: JsonPath,
): { switches: Switches; faults: readonly Fault[] } {
  const faults: Fault[] = [];
  if (value === undefined) return { switches: new Map(), faults };
  if (!PROJECT_SERVERS.check(value, path, (fault) => faults.push(fault)))
    return { switches: new Map(), faults };
  const switches = Object.entries(value).flatMap(([name, { enabled }]): [string, boolean][] =>
    enabled === undefined ? [] : [[name, enabled]],
  );
  return { switches: new Map(switches), faults };
}

/** Applies the user's switch to an entry; `raw`, which approval is bound to, is unchanged. */
export function withSwitch(spec: ServerSpec, switches: Switches, file: string): ServerSpec {
  const enabled = switches.get(spec.name);
  if (enabled === undefined || !isSwitchable(spec)) return spec;
  return { ...spec, entry: { ...spec.entry, enabled }, switchedIn: file };
}

/** Returns who disabled a server; undefined if it is enabled. */
export function switchedOffBy(spec: ServerSpec): SwitchedOff | undefined {
  const { entry, file, switchedIn } = spec;
  if (entry.enabled !== false) return undefined;
  if (switchedIn !== undefined) return { by: 'you', file: switchedIn };
  return { by: ownerName(spec), ...(file === undefined ? {} : { file }) };
}
