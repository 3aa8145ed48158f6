/** The processes of one server: the first one, and the dedicated ones for one party each. */

import type { Connection } from '../connection/connection.ts';
import type { RootSets } from './root-sets.ts';
import type { Party } from './session.ts';

export interface ServerProcesses {
  readonly primary: Connection;
  /** The party whose state the primary holds, if the server is not shared. */
  holder: Party | undefined;
  readonly roots: RootSets;
  /** Called when the primary has received roots. */
  rootsGiven: () => void;
  readonly dedicated: Map<Party, Connection>;
}

const ROOTS_PARTY = 'roots ';

/** Returns the party of all sessions with the same roots. */
export function rootsParty(key: string | undefined): string {
  return `${ROOTS_PARTY}${key}`;
}

/** Returns the key of such a party; empty for other parties. */
export function rootsKeyOf(party: string): string {
  return party.startsWith(ROOTS_PARTY) ? party.slice(ROOTS_PARTY.length) : '';
}

/** Returns the party that a process serves; undefined if it serves all. */
export function partyAt(
  { primary, holder, roots, dedicated }: ServerProcesses,
  connection: Connection,
): Party | undefined {
  if (primary !== connection) return [...dedicated].find(([, dedicated]) => dedicated === connection)?.[0];
  return holder ?? (roots.given === undefined ? undefined : rootsParty(roots.given));
}
