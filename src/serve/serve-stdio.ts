/** Serves the gateway over this process's stdin and stdout, for the agent that started it. */

import type { Readable, Writable } from 'node:stream';
import type { Served } from '../endpoint/backend.ts';
import { serveLines } from '../endpoint/serve-lines.ts';
import { localPrincipal } from './callers.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import type { ServedHost } from './served-host.ts';

/** A script that pipes its requests in gets its responses; an agent that exits does not wait long for this process. */
const FINISH_MS = 5_000;

/** Options of `serveStdio`. */
export interface ServeStdioOptions extends GatewayOptions {
  /** Default: this process's own. */
  readonly input?: Readable | undefined;
  readonly output?: Writable | undefined;
}

/**
 * Serves all servers of a host as one MCP server on stdio; ends when the client closes its side.
 * Nothing else may write to stdout in the meantime.
 *
 * @param host - The host to serve.
 * @param options - Streams other than those of the process, and options of the gateway.
 * @returns `closed`, which resolves when the client has closed its side, and `close()`.
 * @example
 * const served = serveStdio(host);
 * await served.closed;
 * await host.close();
 */
export function serveStdio(host: ServedHost, options: ServeStdioOptions = {}): Served {
  const { input = process.stdin, output = process.stdout } = options;
  const principal = localPrincipal(host.profiles, 'stdio', options.profile);
  return serveLines(new Gateway(host, options), { input, output, principal, finishMs: FINISH_MS });
}
