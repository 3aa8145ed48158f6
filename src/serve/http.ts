/** The gateway over Streamable HTTP, on this machine only. */

import { once } from 'node:events';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { PlugboardError } from '../errors.ts';
import { createGatewayServer } from './gateway-server.ts';
import { type GuardOptions, isLoopback, refuse } from './guard.ts';
import { gatewayIdentity } from './identity.ts';
import { answer } from './node-http.ts';
import type { Served, ServedHost } from './served-host.ts';

const MCP_PATH = '/mcp';
const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 7420;
/** A request that has sent nothing for this long is not one. */
const HEADERS_TIMEOUT_MS = 10_000;

export interface ServeHttpOptions {
  /** A loopback name or address; default 127.0.0.1. */
  readonly host?: string;
  /** Default 7420; 0 takes any free one. */
  readonly port?: number;
  /** When given, every request must carry it as its bearer token. */
  readonly token?: string;
}

export interface ServedHttp extends Served {
  /** The address for MCP clients. */
  readonly url: string;
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
  const name = options.host ?? DEFAULT_HOST;
  if (!isLoopback(name)) {
    throw new PlugboardError('USAGE', `${name} is not a loopback address.`, {
      hint: 'Serve on 127.0.0.1, ::1 or localhost.',
    });
  }
  const mcp = createMcpHandler(() => createGatewayServer(host, gatewayIdentity));
  const guard: { port: number; token?: string } = {
    port: 0,
    ...(options.token ? { token: options.token } : {}),
  };
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS }, (incoming, outgoing) => {
    void respond(incoming, outgoing, mcp, guard);
  });
  guard.port = await listen(server, name.replace(/^\[|\]$/g, ''), options.port ?? DEFAULT_PORT);
  const stopTelling = host.on('tools', () => mcp.notify.toolsChanged());
  const closed = new Promise<void>((resolve) => {
    server.once('close', resolve);
  });
  return {
    url: `http://${name === '::1' ? '[::1]' : name}:${guard.port}${MCP_PATH}`,
    closed,
    async close() {
      stopTelling();
      await mcp.close();
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  mcp: McpHttpHandler,
  guard: GuardOptions,
): Promise<void> {
  const refusal = refuse(incoming.headers, guard);
  if (refusal) {
    end(outgoing, refusal.status, refusal.message, refusal.headers);
  } else if (incoming.url?.split('?')[0] !== MCP_PATH) {
    end(outgoing, 404, `MCP is served at ${MCP_PATH}.`);
  } else {
    try {
      await answer(incoming, outgoing, mcp.fetch);
    } catch {
      // Details are nobody's business over the wire; a client that left in the middle ends here too.
      if (outgoing.headersSent) outgoing.destroy();
      else end(outgoing, 500, 'The gateway could not answer.');
    }
  }
}

function end(
  outgoing: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
  outgoing.end(JSON.stringify({ error: { message } }));
}

async function listen(server: HttpServer, host: string, port: number): Promise<number> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const taken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
    throw new PlugboardError(
      'START_FAILED',
      taken ? `Port ${port} is taken.` : `Cannot listen on port ${port}.`,
      {
        hint: 'Choose another port.',
        cause,
      },
    );
  }
  // A TCP server that listens has an address with a port.
  return (server.address() as AddressInfo).port;
}
