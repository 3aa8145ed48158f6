/** Serves the gateway over HTTP together with its management API and page: the `serveHttp` of `plugboard/serve`. */

import { homeAt } from '../config/home.ts';
import { isLoopback } from '../endpoint/guard.ts';
import type { ServedHttp } from '../endpoint/listen-http.ts';
import { PlugboardError } from '../errors.ts';
import type { Host } from '../host/host.ts';
import { type ServeHttpOptions, serveHttp as serveGateway } from '../serve/gateway-http.ts';
import { manageToken } from './manage-token.ts';
import { Management, type ManagementOptions } from './management.ts';

export interface ServeManagedOptions extends Omit<ServeHttpOptions, 'approvalQueue' | 'mounted'> {
  /**
   * The management API and the page, for this machine only. Their token is never valid for calls: by default it is in
   * the file `manage-token` of the host's home. Without this option and without `token`, management is off; `false`
   * disables it.
   */
  readonly manage?: ManageOptions | false | undefined;
  /** Calls and questions of other hosts too; see {@link ManagementOptions}. */
  readonly traffic?: ManagementOptions['traffic'];
}

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
 * @example
 * const gateway = await serveHttp(host, { port: 0, token: 'a long secret' });
 * new URL(gateway.url).pathname; // → '/mcp'
 * await gateway.close();
 */
export async function serveHttp(host: Host, options: ServeManagedOptions = {}): Promise<ServedManaged> {
  const { manage = options.token ? {} : false, traffic, ...gateway } = options;
  if (manage === false) {
    return {
      ...(await serveGateway(host, { ...gateway, approvalQueue: traffic?.approvalQueue })),
      page: undefined,
    };
  }
  const kept = manage.token === undefined ? await manageToken(homeAt(host.home)) : undefined;
  const token = manage.token ?? kept?.token ?? '';
  if (token === '' || token === options.token) throw notOfItsOwn();
  const { approvals, clock } = options;
  const management = await Management.open(host, {
    token,
    forwarded: manage.forwarded,
    approvals,
    clock,
    traffic,
  });
  try {
    const served = await serveGateway(host, {
      ...gateway,
      approvalQueue: management.approvalQueue,
      mounted: management,
    });
    const { hostname, port } = new URL(served.url);
    // Management accepts only this machine's own names, wherever MCP is served.
    const manageTokenFile = kept?.file;
    return {
      ...served,
      manageTokenFile,
      page: `http://${isLoopback(hostname) ? hostname : '127.0.0.1'}:${port}/`,
    };
  } catch (error) {
    management.close();
    throw error;
  }
}

function notOfItsOwn(): PlugboardError {
  return new PlugboardError('USAGE', 'Management needs a token of its own', {
    hint: 'Choose another one than the token of MCP clients: a client that has both could approve its own calls.',
  });
}

/** Returns the page's address for a browser: the fragment after the # is never sent. */
export function pageWithToken(page: string, token: string): string {
  return `${page}#token=${encodeURIComponent(token)}`;
}
