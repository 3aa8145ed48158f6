/** The gateway over HTTP with its management API and page beside it: what `plugboard/serve` calls `serveHttp`. */

import { homeAt } from '../config/home.ts';
import { isLoopback } from '../endpoint/guard.ts';
import type { ServedHttp } from '../endpoint/http.ts';
import { PlugboardError } from '../errors.ts';
import type { Host } from '../host.ts';
import { type ServeHttpOptions, serveHttp as serveGateway } from '../serve/http.ts';
import { manageToken } from './manage-token.ts';
import { Management, type ManagementOptions } from './management.ts';

export interface ServeManagedOptions extends Omit<ServeHttpOptions, 'desk' | 'sideDoor'> {
  /**
   * The management API and the page, for this machine only. Their token is never one that calls: by default it is in
   * the file `manage-token` of the host's home. Without this option and without `token`, nothing is managed; `false`
   * leaves management out.
   */
  readonly manage?: ManageOptions | false | undefined;
  /** Calls and questions of more hosts than this one; see {@link ManagementOptions}. */
  readonly traffic?: ManagementOptions['traffic'];
}

export interface ManageOptions {
  readonly token?: string | undefined;
  /** Also answer requests that a proxy on this machine forwards; refused by default. */
  readonly forwarded?: boolean | undefined;
}

export interface ServedManaged extends ServedHttp {
  /** The address of the page, without the token; undefined when nothing can be managed. */
  readonly page: string | undefined;
  /** The file with the token of the page; undefined if none was read. */
  readonly manageTokenFile?: string | undefined;
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
  const { manage = options.token ? {} : false, traffic, ...gateway } = options;
  if (manage === false) {
    return { ...(await serveGateway(host, { ...gateway, desk: traffic?.desk })), page: undefined };
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
    const served = await serveGateway(host, { ...gateway, desk: management.desk, sideDoor: management });
    const { hostname, port } = new URL(served.url);
    // Management answers to this machine's own names only, whatever else MCP is served on.
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

/** The page's address for a browser: what comes after the # never leaves it. */
export function pageWithToken(page: string, token: string): string {
  return `${page}#token=${encodeURIComponent(token)}`;
}
