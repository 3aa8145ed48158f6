/** Serves the gateway over HTTP together with its management API and page: the `serveHttp` of `plugboard/serve`. */

import { homeAt } from '../config/home.ts';
import { isLoopback } from '../endpoint/guard.ts';
import type { ServedHttp } from '../endpoint/listen-http.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Host } from '../host/host.ts';
import { DEFAULT_PORT, type GatewayHttpOptions, listenGateway } from '../serve/gateway-http.ts';
import { manageToken } from './manage-token.ts';
import { Management, type ManagementOptions } from './management.ts';

/** Options of `serveHttp`. */
export interface ServeHttpOptions
  extends Omit<GatewayHttpOptions, 'approvalQueue' | 'connected' | 'folder' | 'mounted'> {
  /**
   * The management API and the page, for this machine only. Their token is never valid for calls: by default it is in
   * the file `manage-token` of the host's home. Without this option and without `token`, management is off; `false`
   * disables it.
   */
  readonly manage?: ManageOptions | false | undefined;
  /** Calls and questions of other hosts too; see `ManagementOptions`. */
  readonly traffic?: ManagementOptions['traffic'];
}

/** Options of the management API and the page. */
export interface ManageOptions {
  readonly token?: string | undefined;
  /** Also accept requests that a proxy on this machine forwards; refused by default. */
  readonly forwarded?: boolean | undefined;
}

export interface ServedManaged extends ServedHttp {
  /** The address of the page, without the token; undefined if management is off. */
  readonly page: string | undefined;
  /** The file with the token of the page; undefined if none was read. */
  readonly manageTokenFile?: string | undefined;
}

/**
 * Serves all servers of a host as one MCP server at `/mcp`, and the management of that host at `/api` and `/`.
 *
 * @param host - The host to serve; closing the gateway does not close it.
 * @param options - Address, tokens, and whether management is served.
 * @returns The addresses, and `close()`.
 * @throws PlugboardError `USAGE` for an address that is not this machine without a token, `START_FAILED` if the port is in use.
 * @example
 * const gateway = await serveHttp(host, { port: 0, token: 'a long secret' });
 * new URL(gateway.url).pathname; // → '/mcp'
 * await gateway.close();
 */
export async function serveHttp(host: Host, options: ServeHttpOptions = {}): Promise<ServedManaged> {
  const { manage = options.token ? {} : false, traffic, ...gateway } = options;
  if (manage === false) {
    return {
      ...(await listenGateway(host, {
        ...gateway,
        approvalQueue: traffic?.approvalQueue,
        connected: traffic?.clients,
      })),
      page: undefined,
    };
  }
  const kept = manage.token === undefined ? await manageToken(homeAt(host.home)) : undefined;
  const token = manage.token ?? kept?.token ?? '';
  if (token === '' || token === options.token) throw tokenOfClients();
  const { approvals, clock } = options;
  const management = await Management.open(host, {
    token,
    forwarded: manage.forwarded,
    tokensOf: options.tokensOf,
    approvals,
    clock,
    traffic,
  });
  try {
    const served = await listenGateway(host, {
      ...gateway,
      approvalQueue: management.approvalQueue,
      connected: management.clients,
      mounted: management,
    });
    const { hostname, port } = new URL(served.url);
    // Management accepts only this machine's own names, wherever MCP is served.
    const manageTokenFile = kept?.file;
    return {
      ...served,
      async close() {
        await served.close();
        await management.settled();
      },
      manageTokenFile,
      page: `http://${isLoopback(hostname) ? hostname : '127.0.0.1'}:${port}/`,
    };
  } catch (error) {
    management.close();
    await management.settled();
    throw error;
  }
}

function tokenOfClients(): PlugboardError {
  return new PlugboardError('USAGE', 'Management needs its own token', {
    hint: 'Choose a token that MCP clients do not have: with it, a client could approve its own calls.',
  });
}

/** Returns the page's address for a browser: the fragment after the # is never sent. */
export function pageWithToken(page: string, token: string): string {
  return `${page}#token=${encodeURIComponent(token)}`;
}

const MAX_PORTS_TRIED = 20;

/** Tries `first`, then the default port and those after it. Calls `taken` for each that was not free. */
export async function onFreePort<T>(
  serve: (port: number) => Promise<T>,
  { taken, first }: { readonly taken: (port: number) => void; readonly first?: number | undefined },
): Promise<T> {
  const usual = Array.from({ length: MAX_PORTS_TRIED }, (_, at) => DEFAULT_PORT + at);
  for (const port of new Set(first === undefined ? usual : [first, ...usual])) {
    try {
      return await serve(port);
    } catch (thrown) {
      if (asPlugboardError(thrown).code !== 'START_FAILED') throw thrown;
      taken(port);
    }
  }
  throw new PlugboardError(
    'START_FAILED',
    `No free port from ${DEFAULT_PORT} to ${DEFAULT_PORT + MAX_PORTS_TRIED - 1}`,
    {
      hint: 'Stop one of the programs that listen on these ports.',
    },
  );
}
