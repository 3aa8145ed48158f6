/** Tells servers that asked for it what the agent's sandbox allows (CON-12). */

import { PlugboardError } from '../errors.ts';
import { isRecord, RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import type { Negotiated } from './eras.ts';
import type { Peer } from './peer.ts';

const PUSH = 'codex/sandbox-state';
const META = 'codex/sandbox-state-meta';
const PUSH_TIMEOUT_MS = 10_000;

/** What a call's `_meta` carries for servers that declared `codex/sandbox-state-meta`. */
export function sandboxMeta(
  negotiated: Negotiated,
  state: unknown,
): Readonly<Record<string, unknown>> | undefined {
  return state !== undefined && declares(negotiated, META) ? { [META]: state } : undefined;
}

/** Sends the state to a server that declared `codex/sandbox-state`; others are left in peace. */
export async function pushSandboxState(peer: Peer, negotiated: Negotiated, state: unknown): Promise<void> {
  if (state === undefined || !declares(negotiated, PUSH)) return;
  const params = isRecord(state) ? state : { state };
  try {
    await peer.request(`${PUSH}/update`, params, { idleMs: PUSH_TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof PlugboardError) || error.detail.rpcCode !== RPC_METHOD_NOT_FOUND) throw error;
    // Servers written from the documentation answer to the capability's own name.
    await peer.request(PUSH, params, { idleMs: PUSH_TIMEOUT_MS });
  }
}

function declares(negotiated: Negotiated, capability: string): boolean {
  const experimental = negotiated.capabilities['experimental'];
  return isRecord(experimental) && experimental[capability] !== undefined;
}
