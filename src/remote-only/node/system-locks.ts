/** In place of `lib/system-locks.ts`: no other process sees files that are in memory. */

export function systemLocks(): undefined {
  return undefined;
}

export function onMissingLocks(): () => void {
  return () => {};
}
