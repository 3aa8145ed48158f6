/** Protocol rules of both eras that apply to every server: handshake and request envelope. */

import { isRecord } from '../lib/json.ts';
import { RPC_INVALID_PARAMS, RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import { RpcError } from './scripted-tool.ts';

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
  /** Eras that the server supports. */
  readonly eras: 'both' | Era;
}

type Params = Readonly<Record<string, unknown>>;

/** Returns the era of a request; throws the error of a strict 2026-07-28 server for an invalid envelope. */
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

/** Returns the results that every server has to implement; undefined for methods left to the script. */
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

/** Adds the fields that the modern era requires in every result, unless the script has set them. */
export function decorate(method: string, result: unknown, era: Era, server: ServerIdentity): unknown {
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
