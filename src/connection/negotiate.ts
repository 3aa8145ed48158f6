/**
 * Finds out which era a server speaks, in place: one process, one pipe, no sibling.
 *
 * The probe is `server/discover`. Whatever answers it with anything but a modern advertisement is legacy
 * and gets `initialize`. A server that stays silent is either slow to start or ignores what it does not
 * know, so after a while it gets `initialize` as well, and the first good answer of the two decides.
 */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json-rpc.ts';
import {
  asImplementation,
  envelope,
  type Implementation,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSION,
  type Negotiated,
  RPC_UNSUPPORTED_VERSION,
  type Verdict,
} from './eras.ts';
import { isRemote, type Peer } from './peer.ts';

/** How long a silent server on a pipe is given before `initialize` follows the probe. */
export const PROBE_PATIENCE_MS = 1_500;

export interface NegotiateOptions {
  readonly client: Implementation;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly logLevel: string;
  readonly verdict?: Verdict | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly notice: (message: string) => void;
}

export async function negotiate(peer: Peer, options: NegotiateOptions): Promise<Negotiated> {
  const { verdict } = options;
  if (verdict?.era === 'legacy') return initialize(peer, options);
  if (verdict?.era === 'modern') return adopt(peer, verdict.discover, options);
  const discovered = await probe(peer, options);
  return discovered === undefined ? initialize(peer, options) : discovered;
}

function adopt(peer: Peer, discovered: Negotiated, options: NegotiateOptions): Negotiated {
  // Log messages of modern servers come per request and only when the request asks for them.
  const fixed = envelope(discovered.protocolVersion, options.client, options.capabilities);
  peer.useEnvelope({ ...fixed, [META.logLevel]: options.logLevel });
  peer.transport.negotiated(discovered.protocolVersion);
  return discovered;
}

/** The modern verdict, or undefined when the server has to be spoken to in the legacy way. */
async function probe(peer: Peer, options: NegotiateOptions): Promise<Negotiated | undefined> {
  const meta = envelope(MODERN_VERSION, options.client, options.capabilities);
  const abandon = new AbortController();
  const signal = AbortSignal.any([options.signal, abandon.signal]);
  const asked = peer
    .request('server/discover', { _meta: meta }, { signal })
    .then(readDiscovery, (error: unknown) => readRefusal(asPlugboardError(error)));

  // Over HTTP a request that gets no answer is an outage, not an old server: no second question there.
  if (isRemote(peer.transport)) {
    const discovered = await asked;
    return discovered === undefined ? undefined : adopt(peer, discovered, options);
  }
  const patience = waitFor(options.clock, PROBE_PATIENCE_MS);
  const first = await Promise.race([asked, patience.over]);
  patience.cancel();
  if (first !== 'waited') return first === undefined ? undefined : adopt(peer, first, options);

  const handshake = initialize(peer, { ...options, signal });
  // Whichever gives a verdict first; a refusal of one leaves the question to the other.
  const modern = asked.then((discovered) => {
    if (discovered === undefined) throw new PlugboardError('PROTOCOL_ERROR', 'not a modern server');
    return discovered;
  });
  try {
    const agreed = await Promise.any([modern, handshake]);
    return agreed.era === 'modern' ? adopt(peer, agreed, options) : agreed;
  } catch {
    return await handshake;
  } finally {
    abandon.abort();
    handshake.catch(() => {});
    modern.catch(() => {});
  }
}

function readDiscovery(result: unknown): Negotiated | undefined {
  if (!isRecord(result) || !Array.isArray(result['supportedVersions'])) return undefined;
  if (!result['supportedVersions'].includes(MODERN_VERSION)) return undefined;
  const meta = isRecord(result['_meta']) ? result['_meta'] : {};
  return agreed('modern', MODERN_VERSION, result, meta[META.serverInfo]);
}

/**
 * What a refused probe means. Any answer at all, a status code included, says that somebody is there who
 * does not know the question: legacy. Only what would stop `initialize` too is an error here.
 */
function readRefusal(error: PlugboardError): undefined {
  if (error.code === 'PROTOCOL_ERROR' || error.code === 'NOT_MCP') {
    if (error.detail.rpcCode === RPC_UNSUPPORTED_VERSION && offersOnlyUnknown(error.detail.rpcData)) {
      throw new PlugboardError('PROTOCOL_ERROR', 'the server speaks only protocol versions we do not know', {
        hint: 'Update plugboard, or use an older version of this server.',
        cause: error,
      });
    }
    return undefined;
  }
  if (error.detail.httpStatus !== undefined && !isAuth(error)) return undefined;
  throw error;
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
  const params = {
    protocolVersion: LEGACY_VERSIONS[0],
    capabilities: options.capabilities,
    clientInfo: options.client,
  };
  const result = await peer.request('initialize', params, { signal: options.signal });
  const record = isRecord(result) ? result : {};
  let version = record['protocolVersion'];
  if (version === undefined) {
    version = '2024-11-05';
    options.notice('initialize was answered without a protocolVersion; taken as 2024-11-05');
  }
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version)) {
    throw new PlugboardError(
      'PROTOCOL_ERROR',
      `the server wants protocol version ${JSON.stringify(version)}`,
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

function waitFor(clock: Clock, ms: number): { over: Promise<'waited'>; cancel: () => void } {
  let cancel = (): void => {};
  const over = new Promise<'waited'>((resolve) => {
    cancel = clock.after(ms, () => resolve('waited'));
  });
  return { over, cancel };
}
