/** What a connected server says about itself, cleaned: its name and version, its instructions, what it can do. */

import type { Connection } from './connection/connection.ts';
import type { Implementation } from './connection/eras.ts';
import type { HostCore } from './host-core.ts';
import { cleanRecord } from './policy/clean-value.ts';

export interface ServerDetails {
  readonly serverInfo?: Implementation;
  /** Absent too if they are held back, see `holdsInstructions`. */
  readonly instructions?: string;
  /** They are new or have changed, and wait to be accepted. */
  readonly holdsInstructions?: true;
  readonly capabilities?: Readonly<Record<string, unknown>>;
}

export function detailsOf(core: HostCore, { name, negotiated }: Connection): ServerDetails {
  const { instructions } = core.catalog.listing(name) ?? {};
  const isHeld = negotiated?.instructions !== undefined && instructions === undefined;
  return {
    ...(negotiated?.serverInfo === undefined ? {} : { serverInfo: negotiated.serverInfo }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(isHeld ? { holdsInstructions: true } : {}),
    ...(negotiated === undefined ? {} : { capabilities: cleanRecord(negotiated.capabilities) }),
  };
}
