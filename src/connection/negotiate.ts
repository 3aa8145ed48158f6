/**
 * Determines the era of a server over its one connection, without a second process.
 *
 * The probe is `server/discover`. A server that responds with anything but a modern discovery result is legacy and gets
 * `initialize`. A silent server is either slow to start or ignores unknown methods, so after a while it gets
 * `initialize` as well. A server of both eras then treats `initialize` as the start of the session: once it was sent,
 * its successful response decides.
 */

import { TRANSPORTS } from '../config/transport-kinds.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_UNSUPPORTED_VERSION } from '../lib/json-rpc.ts';
import { inTime } from '../lib/waits.ts';
import {
  asImplementation,
  envelope,
  type Implementation,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSION,
  type Negotiated,
  type RememberedEra,
} from './eras.ts';
import { isRemote, type Params, type Peer } from './peer.ts';

/** How long to wait for a silent server on a pipe before `initialize` follows the probe. */
export const PROBE_TIMEOUT_MS = 3_000;
/** With both requests sent and one answered, how long to wait for the other response. */
export const SECOND_ANSWER_MS = 1_000;

export interface NegotiateOptions {
  readonly client: Implementation;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly logLevel: string;
  readonly verdict?: RememberedEra | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly notice: (message: string) => void;
}

export interface DecidedEra {
  readonly negotiated: Negotiated;
  /**
   * Whether the next start may rely on it: false if the server offered both eras and the legacy one was used for speed.
   */
  readonly certain: boolean;
}

export async function negotiate(peer: Peer, options: NegotiateOptions): Promise<DecidedEra> {
  const { verdict } = options;
  // The SSE transport predates the modern era: no SSE server supports the probe.
  if (verdict?.era === 'legacy' || TRANSPORTS[peer.transport.kind].isLegacy) {
    return { negotiated: await initialize(peer, options), certain: true };
  }
  return verdict?.era === 'modern' ? rediscover(peer, options) : probe(peer, options);
}

function adopt<T extends Negotiated | undefined>(peer: Peer, discovered: T, options: NegotiateOptions): T {
  // Modern servers send log messages per request, and only if the request asks for them.
  const fixed = envelope(MODERN_VERSION, options.client, options.capabilities);
  peer.useEnvelope({ ...fixed, [META.logLevel]: options.logLevel });
  peer.transport.negotiated(MODERN_VERSION);
  return discovered;
}

/** The server was modern at its last start: other requests may follow before it responds. */
async function rediscover(peer: Peer, options: NegotiateOptions): Promise<DecidedEra> {
  adopt(peer, undefined, options);
  const negotiated = readDiscovery(await discover(peer, undefined, options.signal));
  if (negotiated !== undefined) return { negotiated, certain: true };
  throw new PlugboardError('PROTOCOL_ERROR', 'The server no longer answers in the modern era');
}

function discover(peer: Peer, _meta: Params | undefined, signal: AbortSignal): Promise<unknown> {
  const params = _meta === undefined ? {} : { _meta };
  const ask = (): Promise<unknown> => peer.request('server/discover', params, { signal });
  // The server rejected the version but lists it as supported: the protocol requires one retry.
  return ask().catch((error: unknown) => (offersModern(error) ? ask() : Promise.reject(error)));
}

async function probe(peer: Peer, options: NegotiateOptions): Promise<DecidedEra> {
  const meta = envelope(MODERN_VERSION, options.client, options.capabilities);
  const abandon = new AbortController();
  const signal = AbortSignal.any([options.signal, abandon.signal]);
  const asked = discover(peer, meta, signal).then(readDiscovery, (error: unknown) =>
    readRefusal(asPlugboardError(error)),
  );
  // Over HTTP a request without a response is an outage, not an old server: no second request there.
  const first = isRemote(peer.transport)
    ? await asked
    : await inTime(asked, PROBE_TIMEOUT_MS, options.clock, 'waited');
  if (first !== 'waited') {
    const negotiated = first === undefined ? await initialize(peer, options) : adopt(peer, first, options);
    return { negotiated, certain: true };
  }
  try {
    return await eitherAnswer(peer, asked, { ...options, signal });
  } finally {
    abandon.abort();
    asked.catch(() => {});
  }
}

/** Waits for the responses after both requests were sent. */
async function eitherAnswer(
  peer: Peer,
  asked: Promise<Negotiated | undefined>,
  options: NegotiateOptions,
): Promise<DecidedEra> {
  const { clock } = options;
  const discovered = asked.catch(() => undefined);
  const opened = requestInitialize(peer, options).then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  const modern = await Promise.race([discovered, opened.then(() => undefined)]);
  if (modern !== undefined) {
    const outcome = await inTime(opened, SECOND_ANSWER_MS, clock, 'waited');
    if (outcome === 'waited' || 'error' in outcome) {
      return { negotiated: adopt(peer, modern, options), certain: true };
    }
    return { negotiated: await conclude(peer, outcome.result, options), certain: false };
  }
  const outcome = await opened;
  if ('result' in outcome) {
    // Both responses may have arrived in one chunk, and promises do not preserve which one was first.
    const offered = await Promise.race([discovered, nextTurn()]);
    const certain = offered === undefined;
    return { negotiated: await conclude(peer, outcome.result, options), certain };
  }
  const late = await inTime(discovered, SECOND_ANSWER_MS, clock, 'waited');
  if (late === undefined || late === 'waited') throw outcome.error;
  return { negotiated: adopt(peer, late, options), certain: true };
}

function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)));
}

function readDiscovery(result: unknown): Negotiated | undefined {
  if (!isRecord(result) || !Array.isArray(result['supportedVersions'])) return undefined;
  if (!result['supportedVersions'].includes(MODERN_VERSION)) return undefined;
  const meta = isRecord(result['_meta']) ? result['_meta'] : {};
  return agreed('modern', MODERN_VERSION, result, meta[META.serverInfo]);
}

/**
 * Interprets a rejected probe. Any response, including an HTTP error status, means a server that does not support the
 * method: legacy. Only a failure that would stop `initialize` too is thrown.
 */
function readRefusal(error: PlugboardError): undefined {
  if (error.code === 'PROTOCOL_ERROR' || error.code === 'NOT_MCP') {
    if (error.detail.rpcCode === RPC_UNSUPPORTED_VERSION && offersOnlyUnknown(error.detail.rpcData)) {
      throw new PlugboardError('PROTOCOL_ERROR', 'The server supports only unknown protocol versions', {
        hint: 'Update plugboard, or use an older version of this server.',
        cause: error,
      });
    }
    return undefined;
  }
  if (error.detail.httpStatus !== undefined && !isAuth(error)) return undefined;
  throw error;
}

function offersModern(error: unknown): boolean {
  const { rpcCode, rpcData } = asPlugboardError(error).detail;
  const supported = isRecord(rpcData) ? rpcData['supported'] : undefined;
  return (
    rpcCode === RPC_UNSUPPORTED_VERSION && Array.isArray(supported) && supported.includes(MODERN_VERSION)
  );
}

function offersOnlyUnknown(data: unknown): boolean {
  const supported = isRecord(data) ? data['supported'] : undefined;
  if (!Array.isArray(supported) || supported.length === 0) return false;
  return !supported.some((version) => LEGACY_VERSIONS.includes(version) || version === MODERN_VERSION);
}

function isAuth(error: PlugboardError): boolean {
  return (
    error.code === 'NEEDS_AUTH' || error.code === 'NEEDS_CLIENT_REGISTRATION' || error.code === 'AUTH_FAILED'
  );
}

async function initialize(peer: Peer, options: NegotiateOptions): Promise<Negotiated> {
  return conclude(peer, await requestInitialize(peer, options), options);
}

function requestInitialize(peer: Peer, options: NegotiateOptions): Promise<unknown> {
  const params = {
    protocolVersion: LEGACY_VERSIONS[0],
    capabilities: options.capabilities,
    clientInfo: options.client,
  };
  return peer.request('initialize', params, { signal: options.signal });
}

async function conclude(peer: Peer, result: unknown, options: NegotiateOptions): Promise<Negotiated> {
  const record = isRecord(result) ? result : {};
  let version = record['protocolVersion'];
  if (version === undefined) {
    version = '2024-11-05';
    options.notice('initialize was answered without a protocolVersion; taken as 2024-11-05');
  }
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version)) {
    throw new PlugboardError(
      'PROTOCOL_ERROR',
      `The server requires protocol version ${JSON.stringify(version)}`,
      {
        hint: `Plugboard speaks ${[MODERN_VERSION, ...LEGACY_VERSIONS].join(', ')}.`,
      },
    );
  }
  peer.transport.negotiated(version);
  await peer.notify('notifications/initialized');
  return agreed('legacy', version, record, record['serverInfo']);
}

function agreed(
  era: Negotiated['era'],
  protocolVersion: string,
  result: Readonly<Record<string, unknown>>,
  serverInfo: unknown,
): Negotiated {
  const info = asImplementation(serverInfo);
  return {
    era,
    protocolVersion,
    capabilities: isRecord(result['capabilities']) ? result['capabilities'] : {},
    ...(info === undefined ? {} : { serverInfo: info }),
    ...(typeof result['instructions'] === 'string' ? { instructions: result['instructions'] } : {}),
  };
}
