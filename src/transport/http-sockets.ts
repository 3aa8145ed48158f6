/** Opens the sockets of one wire: directly to the server, through a proxy, or through a custom `fetch`. */

import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Pool } from 'undici';
import { asPlugboardError } from '../errors.ts';
import type { Network } from '../policy/network.ts';
import type { ProxyServer } from '../policy/proxy.ts';
import type { Sockets } from './http-fetch.ts';
import { type HttpLimits, MAX_CONNECTIONS, TCP_KEEP_ALIVE_MS } from './http-limits.ts';

/** The network settings of a wire. */
export interface Exit {
  readonly network: Network;
  /** The entry's `proxy` setting. */
  readonly forced?: boolean | undefined;
}

export interface Opened {
  readonly sockets: Sockets;
  /** The proxy in use, if any. */
  readonly proxy?: ProxyServer | undefined;
  /** The proxy forwards single requests without a tunnel: a status 407 is its own. */
  readonly forwards?: boolean | undefined;
}

export async function openSockets(
  url: URL,
  limits: Pick<HttpLimits, 'connectMs'>,
  exit: Exit | undefined,
): Promise<Opened> {
  if (exit?.network.fetch !== undefined) {
    const { fetchSockets } = await import('./http-fetch.ts');
    return { sockets: fetchSockets(exit.network.fetch) };
  }
  const proxy = exit?.network.proxyFor(url, exit.forced);
  const needsTls = url.protocol === 'https:' || proxy?.url.protocol === 'https:';
  const context = needsTls ? exit?.network.secureContext() : undefined;
  const PoolClass = await loadPool();
  if (proxy !== undefined) return throughProxy(PoolClass, url, limits, proxy, context);
  return { sockets: new PoolClass(url.origin, poolOptions(direct(limits, context))) };
}

async function throughProxy(
  PoolClass: typeof Pool,
  url: URL,
  limits: Pick<HttpLimits, 'connectMs'>,
  proxy: ProxyServer,
  secureContext: SecureContext | undefined,
): Promise<Opened> {
  const { openRoute, openTunnel } = await import('../policy/proxy-tunnel.ts');
  // For plain http, a proxy may support tunnels or only forwarding; the first connection determines it.
  const route = url.protocol === 'http:' ? await openRoute(proxy, url, { secureContext }) : undefined;
  if (route?.kind === 'forward') {
    const pool = new PoolClass(proxy.url.origin, poolOptions(direct(limits, secureContext)));
    return { sockets: forwarding(pool, url, proxy), proxy, forwards: true };
  }
  let first: Socket | undefined = route?.socket;
  const connect: Pool.Options['connect'] = (_options, callback) => {
    const ready = first;
    first = undefined;
    const isUsable = ready !== undefined && !ready.destroyed;
    // Never in the same turn: undici would not detect that it may write.
    const tunnel = isUsable ? Promise.resolve(ready) : openTunnel(proxy, url, { secureContext });
    tunnel.then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : asPlugboardError(error), null),
    );
  };
  return { sockets: new PoolClass(url.origin, poolOptions(connect)), proxy };
}

/** Sends each request to the proxy, with the server's absolute URL in the request line. */
function forwarding(pool: Pool, url: URL, { authorization }: ProxyServer): Sockets {
  const more = [
    'host',
    url.host,
    ...(authorization === undefined ? [] : ['proxy-authorization', authorization]),
  ];
  return {
    dispatch: (options, handler) =>
      pool.dispatch(
        {
          ...options,
          origin: null as unknown as string, // use the pool's origin
          path: `${url.origin}${options.path}`,
          headers: [...(options.headers as string[]), ...more],
        },
        handler,
      ),
    destroy: () => pool.destroy(),
  };
}

function direct(
  { connectMs }: Pick<HttpLimits, 'connectMs'>,
  secureContext: SecureContext | undefined,
): Pool.Options['connect'] {
  return {
    timeout: connectMs,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    ...(secureContext === undefined ? {} : { secureContext }),
  };
}

function poolOptions(connect: Pool.Options['connect']): Pool.Options {
  return {
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    // We enforce timeouts with the injected clock; a stream may be silent for as long as its call lasts.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(connect === undefined ? {} : { connect }),
  };
}

async function loadPool(): Promise<typeof Pool> {
  try {
    return (await import('undici/lib/dispatcher/pool.js')).default;
  } catch {
    // The internal module may move in a later release; the package's main export is stable.
    return (await import('undici')).Pool;
  }
}
