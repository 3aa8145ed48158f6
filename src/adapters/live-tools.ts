/** Keeps a framework's tools up to date with the host, for frameworks that read their tools once. */

import type { Shelf, Toolbox } from './toolbox.ts';

/**
 * Fills the target now and whenever the host's tools change, and returns a function that does so at any time. The
 * target is held only weakly: when its agent is garbage-collected, the subscription ends.
 */
export function keepLive<Definition, Target extends object>(
  toolbox: Toolbox<Definition>,
  target: Target,
  fill: (target: Target, shelf: Shelf<Definition>) => void,
): () => void {
  const kept = new WeakRef(target);
  const refresh = (): void => {
    const alive = kept.deref();
    if (alive === undefined) unsubscribe?.();
    else fill(alive, toolbox.shelf);
  };
  const unsubscribe = toolbox.host.on?.('tools', refresh);
  refresh();
  return refresh;
}
