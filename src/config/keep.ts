/** What a running host does about a file that stops being readable: what it said before goes on counting. */

import type { ServerSpec } from './entry.ts';
import type { LoadedConfig } from './load.ts';
import { allSpecs, mergeSpecs } from './merge.ts';

/**
 * The new configuration, with the servers of files that cannot be read now as they were before. An editor that
 * is not done yet must not end servers, nor lift the rules of `permissions`.
 */
export function keepUnreadable(before: LoadedConfig, now: LoadedConfig): LoadedConfig {
  if (now.unreadable.length === 0) return now;
  const isLost = ({ file }: ServerSpec): boolean => file !== undefined && now.unreadable.includes(file);
  const kept = allSpecs(before).filter(isLost);
  const [own] = now.files;
  // The nearer file stays the stronger one.
  const nearness = ({ file }: ServerSpec): number => (file === undefined ? -1 : now.files.indexOf(file));
  const all = [...allSpecs(now), ...kept].toSorted((a, b) => nearness(a) - nearness(b));
  return {
    ...now,
    ...mergeSpecs(all),
    inputs: own !== undefined && now.unreadable.includes(own) ? before.inputs : now.inputs,
    settings: own !== undefined && now.unreadable.includes(own) ? before.settings : now.settings,
  };
}
