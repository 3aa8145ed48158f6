/** Hashes the lock of a server, for approvals and for caches. Apart from the lock itself: most commands need no hash. */

import { createHash } from 'node:crypto';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { LockedServer } from './lock-file.ts';

/** Returns the SHA-256 of everything in a lock that decides what runs. */
export function lockDigest({ source, requested, packages }: LockedServer): string {
  return createHash('sha256').update(canonicalJson({ source, requested, packages })).digest('hex');
}
