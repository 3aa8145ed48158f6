/** The two eras on the server side: which one a request belongs to, and the form of results in each. */

import { type Era, type Implementation, LEGACY_VERSIONS, META, MODERN_VERSION } from '../connection/eras.ts';
import { isLogLevel, LOG_LEVELS, type LogLevel } from '../connection/log-levels.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_UNSUPPORTED_VERSION } from '../lib/json-rpc.ts';
import { invalidParams, RpcFailure } from './rpc-failure.ts';

export type Params = Readonly<Record<string, unknown>>;

/** The sender of a request: known from `initialize` in the legacy era, from each request in the modern one. */
export interface ClientInfo {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: Params;
  /** Whether its capabilities allow questions of some kind. */
  readonly isAskable: boolean;
  /** The least severe requested log level; undefined: no log messages. */
  readonly logLevel: LogLevel | undefined;
  /** The client program, as it identifies itself. */
  readonly client: Implementation | undefined;
}

/** The log level of a legacy client that has not set one. */
export const DEFAULT_LEVEL: LogLevel = 'info';

/** The assumed identity of a legacy client that never sent `initialize`. */
export const NAMELESS: ClientInfo = {
  era: 'legacy',
  version: '2025-03-26',
  capabilities: {},
  isAskable: false,
  logLevel: DEFAULT_LEVEL,
  client: undefined,
};

const NEWEST_LEGACY_VERSION = LEGACY_VERSIONS[0] ?? '';

/**
 * `initialize` starts the legacy era whatever else it contains; without a version it is an unknown method of the
 * modern era.
 */
export function isLegacyOpening(method: unknown, params: Params): boolean {
  return method === 'initialize' && (params['protocolVersion'] !== undefined || !isRecord(params['_meta']));
}

/** Returns the modern sender of a request; undefined if the request does not claim the modern era. */
export function modernClientInfo(method: string, params: Params): ClientInfo | undefined {
  const meta = params['_meta'];
  if (!isRecord(meta) || isLegacyOpening(method, params)) return undefined;
  const version = meta[META.protocolVersion];
  if (version === undefined) return undefined;
  if (version !== MODERN_VERSION) throw unsupportedVersion(version, [MODERN_VERSION]);
  const capabilities = meta[META.clientCapabilities];
  if (!isRecord(capabilities)) {
    throw invalidParams(`${method} came without ${META.clientCapabilities} in _meta`);
  }
  const level = meta[META.logLevel];
  if (level !== undefined && !isLogLevel(level)) throw unknownLevel(level);
  return {
    era: 'modern',
    version,
    capabilities,
    isAskable: allowsQuestions(capabilities),
    logLevel: level,
    client: clientOf(meta[META.clientInfo]),
  };
}

export function unknownLevel(level: unknown): RpcFailure {
  return invalidParams(`${JSON.stringify(level)} is not a log level: use one of ${LOG_LEVELS.join(', ')}`);
}

/** Builds the error for an unsupported version. `supported`: the versions of the request's era. */
export function unsupportedVersion(requested: unknown, supported: readonly string[]): RpcFailure {
  const shown = typeof requested === 'string' ? requested : JSON.stringify(requested);
  return new RpcFailure(RPC_UNSUPPORTED_VERSION, `Unsupported protocol version: ${shown}`, {
    supported,
    requested,
  });
}

/** Returns the legacy client of an `initialize`: with its version if supported, else our newest. */
export function legacyClientInfo(params: Params): ClientInfo {
  const { protocolVersion, capabilities, clientInfo } = params;
  const known = typeof protocolVersion === 'string' && LEGACY_VERSIONS.includes(protocolVersion);
  const declared = isRecord(capabilities) ? capabilities : {};
  return {
    era: 'legacy',
    version: known ? protocolVersion : NEWEST_LEGACY_VERSION,
    capabilities: declared,
    isAskable: allowsQuestions(declared),
    logLevel: DEFAULT_LEVEL,
    client: clientOf(clientInfo),
  };
}

function allowsQuestions(capabilities: Params): boolean {
  return 'elicitation' in capabilities || 'sampling' in capabilities || 'roots' in capabilities;
}

function clientOf(info: unknown): Implementation | undefined {
  if (!isRecord(info)) return undefined;
  const { name, version } = info;
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined;
}

/** Adds the fields that the client's era requires on a result. Client-specific results are never for a shared cache. */
export function decorate(
  { cached }: { readonly cached?: boolean | undefined },
  result: Params,
  era: Era,
  server: Implementation | undefined,
): Params {
  if (era === 'legacy' || server === undefined) return result;
  const { _meta: meta } = result;
  const _meta = isRecord(meta) ? { ...meta, [META.serverInfo]: server } : { [META.serverInfo]: server };
  // Two literals: V8 is slow to add to a copy.
  return cached === true
    ? { ttlMs: 0, cacheScope: 'private', resultType: 'complete', ...result, _meta }
    : { resultType: 'complete', ...result, _meta };
}

/** The first version in which an elicitation has a mode, and may be a URL. */
export const FIRST_MODE_VERSION = '2025-11-25';

/**
 * Whether a client supports a mode. An empty capability means forms: URLs were added later, and must be declared.
 */
export function canElicit({ capabilities }: ClientInfo, mode: 'form' | 'url'): boolean {
  const { elicitation } = capabilities;
  if (!isRecord(elicitation)) return false;
  return mode === 'url'
    ? isRecord(elicitation['url'])
    : isRecord(elicitation['form']) || !isRecord(elicitation['url']);
}
