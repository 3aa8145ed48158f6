/** The entry point `plugboard/serve`: a host as an MCP server, with its management. */

export type { Served } from '../endpoint/backend.ts';
export type { ServedHttp } from '../endpoint/listen-http.ts';
export type {
  ManageOptions,
  ServedManaged,
  ServeHttpOptions,
} from '../manage/serve-http.ts';
export { serveHttp } from '../manage/serve-http.ts';
export type { GatewayOptions } from './gateway.ts';
export type { IssuerOptions } from './jwt.ts';
export type { ServeStdioOptions } from './serve-stdio.ts';
export { serveStdio } from './serve-stdio.ts';
export type { ServedHost, ServedSession } from './served-host.ts';
