/** The entry point `plugboard/serve`: a host as an MCP server. */

export type { Served } from '../endpoint/backend.ts';
export type { ServedHttp } from '../endpoint/http.ts';
export type { GatewayOptions } from './gateway.ts';
export type { ServeHttpOptions } from './http.ts';
export { serveHttp } from './http.ts';
export type { IssuerOptions } from './jwt.ts';
export type { ServedHost, ServedSession } from './served-host.ts';
export type { ServeStdioOptions } from './stdio.ts';
export { serveStdio } from './stdio.ts';
