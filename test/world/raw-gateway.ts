/** A gateway before raw servers, and raw clients of both eras over both transports: our code does not check itself. */

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHost, type Host } from '../../src/host/host.ts';
import type { HostOptions } from '../../src/host/host-options.ts';
import { type ServedHttp, serveHttp } from '../../src/serve/index.ts';
import { createRawServer, type RawServerOptions } from '../fixtures/raw-server.mjs';
import { legacySession, modern, post } from '../serve/bare-client.ts';
import { LineClient, MODERN } from '../serve/line-client.ts';

export type Json = Record<string, unknown>;
export type Era = 'legacy' | 'modern';
export type Carrier = 'stdio' | 'http';

const RAW_SERVER = fileURLToPath(new URL('../fixtures/raw-server.mjs', import.meta.url));

export interface RawServerSetup extends RawServerOptions {
  /** How the gateway reaches it; default: stdio. */
  readonly over?: Carrier;
}

/** A client as tests use it: the result, or what the error object rejects with. */
export interface RawClient {
  readonly name: string;
  request(method: string, params?: Json): Promise<Json>;
  /** The whole answer to a request, with its error if it has one. */
  answer(method: string, params?: Json): Promise<Json>;
  /** Notifications that came with requests so far. */
  readonly notifications: readonly Json[];
}

export interface RawGateway {
  readonly host: Host;
  readonly http: ServedHttp;
  client(era: Era, over: Carrier, capabilities?: Json): Promise<RawClient>;
  close(): Promise<void>;
}

export async function openRawGateway(
  servers: Readonly<Record<string, RawServerSetup>>,
  options: Partial<HostOptions> = {},
): Promise<RawGateway> {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-faithful-'));
  const listening: Server[] = [];
  const entries: Record<string, object> = {};
  for (const [name, { over = 'stdio', ...raw }] of Object.entries(servers)) {
    if (over === 'stdio') {
      const args = [RAW_SERVER, JSON.stringify(raw)];
      entries[name] = { command: process.execPath, args, lifecycle: 'eager' };
    } else {
      const server = await listenRaw(raw);
      listening.push(server);
      const { port } = server.address() as AddressInfo;
      entries[name] = { type: 'http', url: `http://127.0.0.1:${port}/mcp`, lifecycle: 'eager' };
    }
  }
  const host = await createHost({
    home,
    cwd: home,
    env: {},
    watch: false,
    servers: entries as NonNullable<HostOptions['servers']>,
    ...options,
  });
  await host.ready();
  const http = await serveHttp(host, { port: 0 });
  const lines: LineClient[] = [];
  return {
    host,
    http,
    async client(era, over, capabilities = {}) {
      const name = `${era} client over ${over}`;
      if (over === 'http') return httpClient(name, http.url, era, capabilities);
      const line = new LineClient(host, era === 'modern' ? MODERN : '2025-11-25', capabilities, () => ({}));
      lines.push(line);
      await line.open();
      return {
        name,
        notifications: line.notifications,
        request: (method, params) => line.request(method, params),
        answer: (method, params) =>
          line.request(method, params).then(
            (result) => ({ result }),
            (error: unknown) => ({ error }),
          ),
      };
    },
    async close() {
      await Promise.all(lines.map((line) => line.leave()));
      await http.close();
      await host.close();
      for (const server of listening) server.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** All four raw clients of a gateway. */
export async function allClients(world: RawGateway, capabilities: Json = {}): Promise<readonly RawClient[]> {
  return Promise.all([
    world.client('legacy', 'stdio', capabilities),
    world.client('modern', 'stdio', capabilities),
    world.client('legacy', 'http', capabilities),
    world.client('modern', 'http', capabilities),
  ]);
}

/** The messages that a raw server has received, as its tool `seen` returns them. */
export async function seenBy(client: RawClient, server: string): Promise<readonly Json[]> {
  const { content } = (await client.request('tools/call', { name: `${server}__seen` })) as {
    content: { text: string }[];
  };
  return JSON.parse(content[0]?.text ?? '[]') as Json[];
}

async function httpClient(name: string, url: string, era: Era, capabilities: Json): Promise<RawClient> {
  let id = 0;
  const session = era === 'legacy' ? await legacySession(url, '2025-11-25', capabilities) : {};
  const notifications: Json[] = [];
  const answer = async (method: string, params: Json = {}): Promise<Json> => {
    id += 1;
    const { messages } =
      era === 'modern'
        ? await modern(url, id, method, params, capabilities)
        : await post(url, { jsonrpc: '2.0', id, method, params }, session);
    notifications.push(...messages.slice(0, -1));
    return messages.at(-1) ?? {};
  };
  return {
    name,
    notifications,
    answer,
    async request(method, params) {
      const { result, error } = await answer(method, params);
      if (error !== undefined) throw error;
      return result as Json;
    },
  };
}

/** A raw server behind a POST: every answer is a stream, so that what precedes it can be sent. */
async function listenRaw(options: RawServerOptions): Promise<Server> {
  const raw = createRawServer(options);
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const message = JSON.parse(body) as Json;
      if (message['id'] === undefined) {
        raw.receive(message, () => {});
        return void response.writeHead(202).end();
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      raw.receive(message, (sent) => {
        response.write(`data: ${JSON.stringify(sent)}\n\n`);
        if ('id' in sent) response.end();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
