/** Sends the agent's sandbox state to servers that declared support for it (CON-12). */

import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import type { Negotiated } from './eras.ts';
import type { Peer } from './peer.ts';

const PUSH = 'codex/sandbox-state';
const META = 'codex/sandbox-state-meta';
const PUSH_TIMEOUT_MS = 10_000;

/** Returns the `_meta` of a call for servers that declared `codex/sandbox-state-meta`. */
export function sandboxMeta(
  negotiated: Negotiated,
  state: unknown,
): Readonly<Record<string, unknown>> | undefined {
  return state !== undefined && declares(negotiated, META) ? { [META]: state } : undefined;
}

/** Sends the state to a server that declared `codex/sandbox-state`; does nothing for others. */
export async function pushSandboxState(peer: Peer, negotiated: Negotiated, state: unknown): Promise<void> {
  if (state === undefined || !declares(negotiated, PUSH)) return;
  const params = isRecord(state) ? state : { state };
  try {
    await peer.request(`${PUSH}/update`, params, { idleMs: PUSH_TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof PlugboardError) || error.detail.rpcCode !== RPC_METHOD_NOT_FOUND) throw error;
    // Servers that follow the documentation use the capability's name as the method.
    await peer.request(PUSH, params, { idleMs: PUSH_TIMEOUT_MS });
  }
}

function declares(negotiated: Negotiated, capability: string): boolean {
  const experimental = negotiated.capabilities['experimental'];
  return isRecord(experimental) && experimental[capability] !== undefined;
}
