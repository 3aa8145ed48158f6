/** Locks of the operating system, from a native module that a bundle or another runtime may not have. */

import { channel } from 'node:diagnostics_channel';
import { loadNative } from './native-module.ts';

/** Published to whenever a lock is taken without the system's own. */
const MISSING = 'plugboard.system-locks.missing';

export interface SystemLocks {
  /** False if another process holds the lock. */
  readonly tryLock: (descriptor: number) => boolean;
  readonly unlock: (descriptor: number) => void;
}

/**
 * Undefined if the module cannot be loaded. Under Deno it is not tried: its symbols are resolved by the dynamic linker,
 * which ends the process where one is missing.
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

/** Calls `listener` once, with the first lock that is not the system's; returns how to stop that. */
export function onMissingLocks(listener: (message: string) => void): () => void {
  const stop = (): void => void channel(MISSING).unsubscribe(told);
  function told(): void {
    stop();
    listener(
      'The native module fs-native-extensions cannot be loaded here: files of the home are locked by files next to them.',
    );
  }
  channel(MISSING).subscribe(told);
  return stop;
}
