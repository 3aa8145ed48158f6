/** The gateway over HTTP. */

import { checkReach, listenHttp, type ServedHttp, type SideDoor } from '../endpoint/http.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { createTokenVerifier, type IssuerOptions } from './jwt.ts';
import type { ServedHost } from './served-host.ts';

export const DEFAULT_PORT = 7420;
export const REACH_HINT = 'Give --token, or --issuer with --audience; or serve on 127.0.0.1.';

export interface ServeHttpOptions extends GatewayOptions {
  /** Default 127.0.0.1. Anything beyond this machine demands a token or an issuer. */
  readonly host?: string | undefined;
  /** Default 7420; 0 takes any free one. */
  readonly port?: number | undefined;
  /** When given, every request must carry it as its bearer token. */
  readonly token?: string | undefined;
  /** When given, tokens of this authorization server are accepted, if they are meant for this audience. */
  readonly issuer?: IssuerOptions | undefined;
  /** Also serve the HTTP+SSE transport of 2024-11-05, at `/sse`. */
  readonly legacySse?: boolean | undefined;
  /** Answers paths that are not MCP's. */
  readonly sideDoor?: SideDoor | undefined;
}

/**
 * Serves everything a host has as one MCP server at `/mcp`.
 *
 * @example
 * const gateway = await serveHttp(host, { port: 0, token: 'a long secret' });
 * new URL(gateway.url).pathname; // → '/mcp'
 * await gateway.close();
 */
export async function serveHttp(host: ServedHost, options: ServeHttpOptions = {}): Promise<ServedHttp> {
  const { host: name, port = DEFAULT_PORT, issuer, legacySse, sideDoor } = options;
  const token = options.token || undefined;
  checkReach(name, {
    proof: token !== undefined || issuer !== undefined,
    hint: REACH_HINT,
  });
  const verifier = issuer === undefined ? undefined : await createTokenVerifier(issuer);
  return listenHttp(new Gateway(host, options), { host: name, port, token, verifier, legacySse, sideDoor });
}
