/** The entry point `plugboard/serve`: a host as an MCP server. */

export type { ServedHttp, ServeHttpOptions } from './http.ts';
export { serveHttp } from './http.ts';
export type { Served, ServedHost } from './served-host.ts';
export { serveStdio } from './stdio.ts';
