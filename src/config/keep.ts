/** Keeps the previous content of a configuration file that becomes unreadable while a host runs. */

import type { ServerSpec } from './entry.ts';
import type { LoadedConfig } from './load.ts';
import { allSpecs, mergeSpecs } from './merge-specs.ts';

/**
 * Returns the new configuration, with the previous servers of files that cannot be read now. A half-saved file must not
 * stop servers, nor remove the rules of `permissions`.
 */
export function keepUnreadable(before: LoadedConfig, now: LoadedConfig): LoadedConfig {
  if (now.unreadable.length === 0) return now;
  const isLost = ({ file }: ServerSpec): boolean => file !== undefined && now.unreadable.includes(file);
  const kept = allSpecs(before).filter(isLost);
  const [own] = now.files;
  // The nearer file keeps its precedence.
  const nearness = ({ file }: ServerSpec): number => (file === undefined ? -1 : now.files.indexOf(file));
  const all = [...allSpecs(now), ...kept].toSorted((a, b) => nearness(a) - nearness(b));
  return {
    ...now,
    ...mergeSpecs(all),
    inputs: own !== undefined && now.unreadable.includes(own) ? before.inputs : now.inputs,
    settings: own !== undefined && now.unreadable.includes(own) ? before.settings : now.settings,
  };
}
