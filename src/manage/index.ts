/** The entry point `plugboard/serve`: a host as an MCP server, with its management. */

export type { Served } from '../endpoint/backend.ts';
export type { ServedHttp } from '../endpoint/http.ts';
export type { GatewayOptions } from '../serve/gateway.ts';
export type { IssuerOptions } from '../serve/jwt.ts';
export type { ServedHost, ServedSession } from '../serve/served-host.ts';
export type { ServeStdioOptions } from '../serve/stdio.ts';
export { serveStdio } from '../serve/stdio.ts';
export type { ManageOptions, ServedManaged, ServeManagedOptions as ServeHttpOptions } from './http.ts';
export { serveHttp } from './http.ts';
