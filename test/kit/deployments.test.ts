/** The server of `deployable.ts` in the web frameworks of Node, as their users mount it. */

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { importWebServer, installWebServers } from '../../scripts/install-web-servers.mjs';
import type { McpHandler } from '../../src/kit/index.ts';
import { deployable } from './deployable.ts';
import { BOTH_ERAS, bothEras } from './web-client.ts';

const INSTALL_MS = 300_000;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  expect(await installWebServers()).toBe(0);
}, INSTALL_MS);
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function mcp(): McpHandler {
  const handler = deployable().handler();
  closers.push(() => handler.close());
  return handler;
}

async function urlOf(server: Server): Promise<string> {
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  if (!server.listening) await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Middleware = McpHandler['node'];

it.each([
  ['before express.json()', false],
  ['after express.json()', true],
])('KIT-4: Express serves it %s', async (_where, isParsed) => {
  const { default: express } = (await importWebServer('express')) as {
    default: (() => RequestListener & { use(middleware: Middleware): void }) & { json(): Middleware };
  };
  const app = express();
  if (isParsed) app.use(express.json());
  app.use(mcp().node);
  app.use((_request, response) => response.writeHead(418).end());
  const url = await urlOf(createServer(app).listen(0, '127.0.0.1'));
  expect(await bothEras(`${url}/mcp`)).toEqual(BOTH_ERAS);
  expect((await fetch(`${url}/other`)).status).toBe(418);
});

it('KIT-4: Fastify serves it in a hook, before it parses bodies', async () => {
  const { default: fastify } = (await importWebServer('fastify')) as {
    default: () => {
      readonly server: Server;
      addHook(
        name: 'onRequest',
        hook: (
          request: { readonly raw: Parameters<McpHandler['node']>[0] },
          reply: { readonly raw: Parameters<McpHandler['node']>[1] },
          done: () => void,
        ) => void,
      ): void;
      get(path: string, answer: () => unknown): void;
      listen(options: { readonly port: number; readonly host: string }): Promise<string>;
    };
  };
  const app = fastify();
  const { node } = mcp();
  app.addHook('onRequest', (request, reply, done) => node(request.raw, reply.raw, done));
  app.get('/other', () => 'other');
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  await urlOf(app.server);
  expect(await bothEras(`${url}/mcp`)).toEqual(BOTH_ERAS);
  expect(await (await fetch(`${url}/other`)).text()).toBe('other');
});

it('KIT-4: Hono serves it, by itself and on Node', async () => {
  const { Hono } = (await importWebServer('hono')) as {
    Hono: new () => {
      all(
        path: string,
        handle: (context: { readonly req: { readonly raw: Request } }) => Promise<Response>,
      ): void;
      fetch(request: Request): Promise<Response>;
    };
  };
  const { createAdaptorServer } = (await importWebServer('@hono/node-server')) as {
    createAdaptorServer(options: { fetch(request: Request): Promise<Response> }): Server;
  };
  const app = new Hono();
  const { fetch: answer } = mcp();
  app.all('/mcp', (context) => answer(context.req.raw));
  expect(await bothEras('http://localhost/mcp', async (request) => app.fetch(request))).toEqual(BOTH_ERAS);
  const url = await urlOf(
    createAdaptorServer({ fetch: (request) => app.fetch(request) }).listen(0, '127.0.0.1'),
  );
  expect(await bothEras(`${url}/mcp`)).toEqual(BOTH_ERAS);
});

it('KIT-4: a route of Next answers by its exported methods', async () => {
  // As in app/mcp/route.ts; Next calls the export that is named as the method.
  const { fetch: GET, fetch: POST, fetch: DELETE } = mcp();
  const route: Readonly<Record<string, McpHandler['fetch']>> = { GET, POST, DELETE };
  const send = async (request: Request): Promise<Response> =>
    (await route[request.method]?.(request)) ?? new Response(null, { status: 405 });
  expect(await bothEras('http://localhost:3000/mcp', send)).toEqual(BOTH_ERAS);
});
