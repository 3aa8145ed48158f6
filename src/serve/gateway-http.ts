/** Serves the gateway over HTTP. */

import { homeAt } from '../config/home.ts';
import { checkReach, listenHttp, type MountedHandler, type ServedHttp } from '../endpoint/listen-http.ts';
import type { Replicas } from '../endpoint/replicas.ts';
import { PlugboardError } from '../errors.ts';
import { systemClock } from '../lib/clock.ts';
import { createOnceReport } from '../policy/once-report.ts';
import { Callers } from './callers.ts';
import { clientTables } from './client-table.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { GatewayMetrics } from './gateway-metrics.ts';
import { GatewayProbes, type ReadyCheck } from './gateway-probes.ts';
import { createTokenVerifier, type IssuerOptions } from './jwt.ts';
import type { ServedHost } from './served-host.ts';
import { openSessionFiles } from './session-files.ts';
import { TokenBook } from './token-book.ts';

export const DEFAULT_PORT = 7420;
export const REACH_HINT =
  'Make one with plugboard token add <name>, or give --issuer with --audience; or serve on 127.0.0.1.';
const NEEDED =
  'A token that calls tools is needed: plugboard token add <name> makes one. The token of the page is not accepted here.';

export interface GatewayHttpOptions extends GatewayOptions {
  /** Default 127.0.0.1. Other interfaces require a token or an issuer. */
  readonly host?: string | undefined;
  /** Default 7420; 0 selects any free port. */
  readonly port?: number | undefined;
  /** If given, every request must carry it as its bearer token. */
  readonly token?: string | undefined;
  /**
   * A home of Plugboard: every token that `plugboard token add` created there is accepted too, until it is revoked or
   * expires. Its name is the principal.
   */
  readonly tokensOf?: string | undefined;
  /**
   * Whether requests without a token are accepted too, as those of the local user; a presented token must be valid and
   * keeps its profile. Only on the loopback interface.
   */
  readonly tokenOptional?: boolean | undefined;
  /** If given, tokens of this authorization server are accepted, if they are for this audience. */
  readonly issuer?: IssuerOptions | undefined;
  /** Also serve the HTTP+SSE transport of 2024-11-05, at `/sse`. */
  readonly legacySse?: boolean | undefined;
  /** Called with the reason when a client is refused for a problem in the configuration, once for each. */
  readonly onRefusedClient?: ((message: string) => void) | undefined;
  /** Handles paths other than MCP's. */
  readonly mounted?: MountedHandler | undefined;
  /**
   * Default true: sessions of legacy clients are recorded in the host's home, and continue after a restart. `false`:
   * they end with this process.
   */
  readonly keepSessions?: boolean | undefined;
}

/** Serves all servers of a host as one MCP server at `/mcp`, without management: see `manage/serve-http.ts`. */
export async function listenGateway(host: ServedHost, options: GatewayHttpOptions = {}): Promise<ServedHttp> {
  const { host: name, port = DEFAULT_PORT, issuer, legacySse, mounted } = options;
  const { tokensOf, tokenOptional = false } = options;
  const given = options.token || undefined;
  checkReach(name, {
    proof: !tokenOptional && (given !== undefined || issuer !== undefined || tokensOf !== undefined),
    hint: REACH_HINT,
  });
  const { clock = systemClock } = options;
  const { profiles } = host;
  if (options.profile !== undefined) profiles.usable(options.profile);
  const clients = clientTables(profiles);
  const refusedClient = createOnceReport((_server: undefined, message) => options.onRefusedClient?.(message));
  const report = (message: string): void => {
    host.report(undefined, message);
    refusedClient(undefined, message);
  };
  const verifier = issuer === undefined ? undefined : await createTokenVerifier(issuer, { clients, report });
  const named =
    tokensOf === undefined
      ? undefined
      : new TokenBook(homeAt(tokensOf), { clock, configured: () => clients().tokens });
  const admission = new Callers({
    profiles,
    clients,
    only: options.profile,
    book: named,
    report,
  });
  let metrics: GatewayMetrics | undefined;
  const closeAll = (): void => {
    metrics?.close();
    admission.close();
    named?.close();
  };
  if (given !== undefined && named?.isRevoked(given)) {
    closeAll();
    throw revoked();
  }
  // A token of the file is treated as such: it can be revoked.
  const token = given !== undefined && named?.nameOf(given) !== undefined ? undefined : given;
  const gateway = new Gateway(host, options);
  const { replicas } = options;
  metrics = new GatewayMetrics({ host, others: () => gateway.metrics() });
  const openRoutes = new GatewayProbes({
    metrics,
    isClosing: () => gateway.isClosing,
    checks: replicas === undefined ? [] : [drainCheck(replicas), redisCheck(replicas), configCheck(replicas)],
  });
  const kept = options.keepSessions === false || replicas !== undefined ? undefined : homeAt(host.home);
  // If the home is not writable, sessions are kept in memory instead.
  const sessionStorage = kept && (await openSessionFiles(kept, clock).catch(() => undefined));
  try {
    const served = await listenHttp(gateway, {
      host: name,
      port,
      token,
      named,
      optional: tokenOptional,
      admission,
      needed: NEEDED,
      verifier,
      legacySse,
      mounted,
      openRoutes,
      replicas,
      sessionStorage,
    });
    void served.closed.then(closeAll);
    return served;
  } catch (error) {
    closeAll();
    throw error;
  }
}

/** A balancer sends no new requests to a replica that gives its sessions up. */
function drainCheck(replicas: Replicas): ReadyCheck {
  return {
    name: 'replica',
    state: () => (replicas.state.isDraining ? { reason: 'draining' } : undefined),
  };
}

/** Clients get other tools from a replica with another configuration, also during an upgrade. */
function configCheck(replicas: Replicas): ReadyCheck {
  return {
    name: 'configuration',
    state: () => {
      const { differing, replicas: all } = replicas.state;
      if (differing === 0) return undefined;
      return { reason: `${differing} of ${all - 1} other replicas have other files`, isNote: true };
    },
  };
}

/** Calls go on without Redis, so the gateway stays ready. */
function redisCheck(replicas: Replicas): ReadyCheck {
  return {
    name: 'redis',
    state: () =>
      replicas.state.isRedisUp
        ? undefined
        : { reason: 'away; sessions of replicas that end now are lost, and limits are local', isNote: true },
  };
}

function revoked(): PlugboardError {
  return new PlugboardError('USAGE', 'The token that was given to the gateway is revoked', {
    hint: 'Remove it from PLUGBOARD_TOKEN or the file, and make another one with: plugboard token add <name>',
  });
}
