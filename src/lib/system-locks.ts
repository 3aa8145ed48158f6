/** Loads operating system locks from a native module, which may be missing in a bundle or another runtime. */

import { channel } from 'node:diagnostics_channel';
import { loadNative } from './native-module.ts';

/** Diagnostics channel, published to when a lock is taken without system locks. */
const MISSING = 'plugboard.system-locks.missing';

export interface SystemLocks {
  /** False if another process holds the lock. */
  readonly tryLock: (descriptor: number) => boolean;
  readonly unlock: (descriptor: number) => void;
}

/**
 * Returns the locks; undefined if the module cannot be loaded. It is not tried under Deno: the dynamic linker resolves
 * its symbols and ends the process if one is missing.
 */
export function systemLocks(): SystemLocks | undefined {
  if ('Deno' in globalThis) return missing();
  try {
    return loadNative('fs-native-extensions') as SystemLocks;
  } catch {
    return missing();
  }
}

function missing(): undefined {
  channel(MISSING).publish({});
}

/** Calls `listener` once, at the first lock without system locks; returns a function that unsubscribes. */
export function onMissingLocks(listener: (message: string) => void): () => void {
  const stop = (): void => void channel(MISSING).unsubscribe(published);
  function published(): void {
    stop();
    listener(
      'The native module fs-native-extensions cannot be loaded here: files of the home are locked by files next to them.',
    );
  }
  channel(MISSING).subscribe(published);
  return stop;
}
