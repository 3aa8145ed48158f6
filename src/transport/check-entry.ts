/**
 * Validates the values of an entry that are otherwise parsed only at the start of its server: sandbox and OAuth grant.
 */

import { parseGrant } from '../auth/grant.ts';
import { isRemote, isStdio, type ServerEntry } from '../config/entry.ts';
import { sandboxOf } from './sandbox.ts';

/** @throws PlugboardError CONFIG_INVALID for a value that would keep the server from starting */
export function checkStartValues(name: string, entry: ServerEntry): void {
  if (isStdio(entry)) sandboxOf(entry.sandbox);
  else if (isRemote(entry) && typeof entry.oauth === 'object') parseGrant(name, entry.oauth);
}
