/** A connected server's description of itself, cleaned: name and version, instructions, capabilities. */

import type { Connection } from '../connection/connection.ts';
import type { Implementation } from '../connection/eras.ts';
import { cleanRecord } from '../policy/clean-value.ts';
import type { HostCore } from './host-core.ts';

export interface ServerDetails {
  readonly serverInfo?: Implementation;
  /** Also absent if they are held back, see `holdsInstructions`. */
  readonly instructions?: string;
  /** True if the instructions are new or changed and wait to be accepted. */
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
