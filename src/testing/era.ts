/** What both eras of the protocol ask of a server beside its own methods: the openings and the envelope. */

import { isRecord, RPC_INVALID_PARAMS, RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import { RpcError } from './rpc-error.ts';

export const MODERN_VERSION = '2026-07-28';
const NEWEST_LEGACY_VERSION = '2025-11-25';
const LEGACY_VERSIONS: readonly string[] = [
  NEWEST_LEGACY_VERSION,
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

const META = 'io.modelcontextprotocol/';
export const SUBSCRIPTION_ID: string = `${META}subscriptionId`;
const UNSUPPORTED_VERSION = -32022;

/** Lists that carry cache hints in the modern era. */
const CACHEABLE = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

export type Era = 'modern' | 'legacy';

export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Which eras it answers to. */
  readonly eras: 'both' | Era;
}

type Params = Readonly<Record<string, unknown>>;

/** Which era a request belongs to; throws what a strict server of 2026-07-28 answers to a bad envelope. */
export function eraOf(method: string, params: Params, eras: ServerIdentity['eras']): Era {
  const meta = isRecord(params['_meta']) ? params['_meta'] : {};
  const claimed = meta[`${META}protocolVersion`];
  if (eras === 'legacy') return 'legacy';
  if (claimed === undefined) {
    if (eras === 'both') return 'legacy';
    if (method === 'initialize') throw unsupported(params['protocolVersion']);
    throw new RpcError(RPC_INVALID_PARAMS, `${method} came without ${META}protocolVersion in _meta.`);
  }
  if (claimed !== MODERN_VERSION) throw unsupported(claimed);
  if (!isRecord(meta[`${META}clientCapabilities`])) {
    throw new RpcError(RPC_INVALID_PARAMS, `${method} came without ${META}clientCapabilities in _meta.`);
  }
  return 'modern';
}

/** The answers that every server owes; undefined for methods that are the script's business. */
export function builtIn(method: string, params: Params, era: Era, server: ServerIdentity): unknown {
  const instructions = server.instructions === undefined ? {} : { instructions: server.instructions };
  if (method === 'server/discover' && era === 'modern') {
    return { supportedVersions: [MODERN_VERSION], capabilities: server.capabilities, ...instructions };
  }
  if (era === 'modern') return undefined;
  if (method === 'ping') return {};
  if (method !== 'initialize') return undefined;
  const asked = params['protocolVersion'];
  return {
    protocolVersion:
      typeof asked === 'string' && LEGACY_VERSIONS.includes(asked) ? asked : NEWEST_LEGACY_VERSION,
    capabilities: server.capabilities,
    serverInfo: { name: server.name, version: server.version },
    ...instructions,
  };
}

/** Adds what the modern era wants on every result, unless the script has set it itself. */
export function dress(method: string, result: unknown, era: Era, server: ServerIdentity): unknown {
  if (era === 'legacy' || !isRecord(result)) return result;
  return {
    ...(CACHEABLE.has(method) ? { ttlMs: 0, cacheScope: 'private' } : {}),
    resultType: 'complete',
    _meta: { [`${META}serverInfo`]: { name: server.name, version: server.version } },
    ...result,
  };
}

export function unknownMethod(method: string): RpcError {
  return new RpcError(RPC_METHOD_NOT_FOUND, `Method not found: ${method}`);
}

function unsupported(requested: unknown): RpcError {
  return new RpcError(UNSUPPORTED_VERSION, `Unsupported protocol version: ${String(requested)}`, {
    supported: [MODERN_VERSION],
    requested,
  });
}
