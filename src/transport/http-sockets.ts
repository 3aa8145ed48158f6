/** The sockets of one wire: straight to the server, through a proxy, or through the author's `fetch`. */

import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Pool } from 'undici';
import { asPlugboardError } from '../errors.ts';
import type { Network } from '../policy/network.ts';
import type { ProxyServer } from '../policy/proxy.ts';
import type { Sockets } from './http-fetch.ts';
import { type HttpLimits, MAX_CONNECTIONS, TCP_KEEP_ALIVE_MS } from './http-limits.ts';

/** How a wire leaves this machine. */
export interface Exit {
  readonly network: Network;
  /** As the entry's `proxy` says. */
  readonly forced?: boolean | undefined;
}

export interface Opened {
  readonly sockets: Sockets;
  /** The proxy in between, if there is one. */
  readonly proxy?: ProxyServer | undefined;
  /** It takes single requests and opens no tunnel: a status 407 is its own. */
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
  // For plain http, a proxy may open tunnels or forward requests only; the first connection finds out.
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
    // Never in the same turn: undici would not notice that it may write.
    const tunnel = isUsable ? Promise.resolve(ready) : openTunnel(proxy, url, { secureContext });
    tunnel.then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : asPlugboardError(error), null),
    );
  };
  return { sockets: new PoolClass(url.origin, poolOptions(connect)), proxy };
}

/** Each request goes to the proxy, with the whole address of the server in its first line. */
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
          origin: null as unknown as string, // the pool's own
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
    // Deadlines are ours, on the injected clock; a stream may be silent for as long as its call lasts.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(connect === undefined ? {} : { connect }),
  };
}

async function loadPool(): Promise<typeof Pool> {
  try {
    return (await import('undici/lib/dispatcher/pool.js')).default;
  } catch {
    // The inner module may move in a later release; the package's own door stays.
    return (await import('undici')).Pool;
  }
}
