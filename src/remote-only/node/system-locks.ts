/** Replaces `lib/system-locks.ts`: other processes cannot see files in memory. */

export function systemLocks(): undefined {
  return undefined;
}

export function onMissingLocks(): () => void {
  return () => {};
}
