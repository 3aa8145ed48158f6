/** The gateway over this process's stdin and stdout, for the agent that started it. */

import type { Server } from '@modelcontextprotocol/server';
import { serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio';
import { createGatewayServer } from './gateway-server.ts';
import { gatewayIdentity } from './identity.ts';
import type { Served, ServedHost } from './served-host.ts';

/**
 * Serves everything a host has as one MCP server on stdio; ends when the client closes its side.
 * Nothing else may write to stdout meanwhile.
 *
 * @example
 * const served = serveStdio(host);
 * await served.closed;
 * await host.close();
 */
export function serveStdio(host: ServedHost): Served {
  // A probe makes an instance of its own, so there can be two; only the one in use has a client to tell.
  const instances = new Set<Server>();
  const handle = serveSdkStdio(() => {
    const server = createGatewayServer(host, gatewayIdentity);
    instances.add(server);
    server.onclose = () => instances.delete(server);
    return server;
  });
  const stopTelling = host.on('tools', () => {
    for (const server of instances) void server.sendToolListChanged().catch(() => undefined);
  });
  const closed = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
  }).then(() => stopTelling());
  return {
    closed,
    async close() {
      stopTelling();
      await handle.close();
      process.stdin.destroy();
      await closed;
    },
  };
}
