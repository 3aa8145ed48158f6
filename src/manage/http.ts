/** The gateway over HTTP with its management API and page beside it: what `plugboard/serve` calls `serveHttp`. */

import { isLoopback } from '../endpoint/guard.ts';
import type { ServedHttp } from '../endpoint/http.ts';
import type { Host } from '../host.ts';
import { type ServeHttpOptions, serveHttp as serveGateway } from '../serve/http.ts';
import { Management, type ManagementOptions } from './management.ts';

export interface ServeManagedOptions extends Omit<ServeHttpOptions, 'desk' | 'sideDoor'> {
  /**
   * The token of the management API, for this machine only. Default: that of the gateway; without one there is
   * no management. `false` leaves it out.
   */
  readonly manage?: { readonly token: string } | false | undefined;
  /** Calls and questions of more hosts than this one; see {@link ManagementOptions}. */
  readonly traffic?: ManagementOptions['traffic'];
}

export interface ServedManaged extends ServedHttp {
  /** The address of the page, without the token; undefined when nothing can be managed. */
  readonly page: string | undefined;
}

/**
 * Serves everything a host has as one MCP server at `/mcp`, and the management of that host at `/api` and `/`.
 *
 * @example
 * const gateway = await serveHttp(host, { port: 0, token: 'a long secret' });
 * new URL(gateway.url).pathname; // → '/mcp'
 * await gateway.close();
 */
export async function serveHttp(host: Host, options: ServeManagedOptions = {}): Promise<ServedManaged> {
  const { manage, traffic, ...gateway } = options;
  const token = manage === false ? undefined : (manage?.token ?? options.token);
  if (!token) return { ...(await serveGateway(host, { ...gateway, desk: traffic?.desk })), page: undefined };
  const { approvals, clock } = options;
  const management = await Management.open(host, { token, approvals, clock, traffic });
  try {
    const served = await serveGateway(host, { ...gateway, desk: management.desk, sideDoor: management });
    const { hostname, port } = new URL(served.url);
    // Management answers to this machine's own names only, whatever else MCP is served on.
    return { ...served, page: `http://${isLoopback(hostname) ? hostname : '127.0.0.1'}:${port}/` };
  } catch (error) {
    management.close();
    throw error;
  }
}

/** The page's address for a browser: what comes after the # never leaves it. */
export function pageWithToken(page: string, token: string): string {
  return `${page}#token=${encodeURIComponent(token)}`;
}
