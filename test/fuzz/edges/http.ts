/** HTTP, from both sides: what servers answer our requests with, and what clients send to the gateway and its API. */

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { systemClock } from '../../../src/lib/clock.ts';
import { createHttpTransport } from '../../../src/transport/http-transport.ts';
import { createSseTransport } from '../../../src/transport/sse-transport.ts';
import { openManagedGateway, TOKEN } from '../../world/managed-gateway.ts';
import { type Edge, mustBeOurs, type Probe } from '../edge.ts';

/** Stands for the length of the body, so that damage to a body is not always damage to its length. */
const LENGTH = 'Content-Length: auto';
/** Time allowed for an answer; a connection without one by then must have been closed. */
const PATIENCE_MS = 300;

function response(type: string, body: string, head = ''): Buffer {
  return Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n${head}${LENGTH}\r\n\r\n${body}`);
}

const RESULT =
  '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{}}}';
const NOTICE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}';

const RESPONSES = [
  response('application/json', RESULT, 'Mcp-Session-Id: abc\r\n'),
  response('application/json', `[${RESULT},${NOTICE}]`),
  response('text/event-stream', `id: 1\nevent: message\ndata: ${NOTICE}\n\nretry: 10\ndata: ${RESULT}\n\n`),
  response('text/event-stream', `: hello\n\nevent: endpoint\ndata: /messages?s=1\n\ndata: ${RESULT}\n\n`),
  response('text/event-stream', `id: 7\ndata: \n\n`),
  Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n`,
  ),
  Buffer.from(
    `HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer resource_metadata="http://127.0.0.1/x", scope="a"\r\n${LENGTH}\r\n\r\nno`,
  ),
  Buffer.from(
    `HTTP/1.1 404 Not Found\r\n${LENGTH}\r\n\r\n{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Session not found"}}`,
  ),
  Buffer.from(`HTTP/1.1 307 Temporary Redirect\r\nLocation: /other\r\n${LENGTH}\r\n\r\n`),
  Buffer.from(`HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n${LENGTH}\r\n\r\nslow down`),
  Buffer.from(
    `HTTP/1.1 400 Bad Request\r\n${LENGTH}\r\n\r\n{"jsonrpc":"2.0","id":null,"error":{"code":-32004,"message":"Unsupported","data":{"supported":["2026-07-28"]}}}`,
  ),
];

export const httpAnswers: Edge = {
  name: 'http-answers',
  runs: 40,
  async open() {
    let answer: Buffer = Buffer.alloc(0);
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
      socket.on('data', (chunk) => {
        if (/^(POST|GET) /.test(chunk.toString('latin1'))) socket.end(answer);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
    return {
      corpus: RESPONSES,
      async check(input) {
        answer = measured(input);
        for (const make of [createHttpTransport, createSseTransport]) await askOnce(make, url);
      },
      close() {
        for (const socket of sockets) socket.destroy();
        server.close();
      },
    };
  },
};

async function askOnce(make: typeof createHttpTransport, url: URL): Promise<void> {
  const limits = {
    connectMs: 500,
    headersMs: 100,
    bodyWindowMs: 100,
    lingerMs: 20,
    resumeDelayMs: 1,
    maxResumeDelayMs: 2,
    closeMs: 50,
  };
  const transport = make({ url, clock: systemClock, limits });
  let closes = 0;
  const heard = new Promise<void>((resolve) => {
    transport
      .open({
        message: (message) => {
          JSON.stringify(message);
          resolve();
        },
        lost: (_, error) => {
          mustBeOurs(error);
          resolve();
        },
        closed: () => {
          closes += 1;
          resolve();
        },
        notice: () => {},
      })
      .then(() => transport.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }))
      .catch((thrown: unknown) => {
        mustBeOurs(thrown);
        resolve();
      });
  });
  await Promise.race([heard, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
  await transport.close();
  if (closes > 1) throw new Error(`closed ${closes} times`);
}

const META = 'io.modelcontextprotocol/';
const ENVELOPE = `"_meta":{"${META}protocolVersion":"2026-07-28","${META}clientInfo":{"name":"f","version":"1"},"${META}clientCapabilities":{}}`;

function request(line: string, body = '', head = ''): Buffer {
  const json = body === '' ? '' : 'Content-Type: application/json\r\n';
  return Buffer.from(
    `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n${json}Accept: application/json, text/event-stream\r\n${head}${LENGTH}\r\n\r\n${body}`,
  );
}

const MODERN = (method: string, name = ''): string =>
  `MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: ${method}\r\n${name === '' ? '' : `Mcp-Name: ${name}\r\n`}`;

const MCP: readonly Buffer[] = [
  request(
    'POST /mcp',
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}',
  ),
  request('POST /mcp', '{"jsonrpc":"2.0","id":2,"method":"tools/list"}', 'Mcp-Session-Id: x\r\n'),
  request(
    'POST /mcp',
    `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"mcp__small__echo","arguments":{"message":"x"},${ENVELOPE}}}`,
    MODERN('tools/call', 'mcp__small__echo'),
  ),
  request(
    'POST /mcp',
    `{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{${ENVELOPE}}}`,
    MODERN('server/discover'),
  ),
  request('POST /mcp', '{"jsonrpc":"2.0","method":"notifications/initialized"}', 'Mcp-Session-Id: x\r\n'),
  request('DELETE /mcp', '', 'Mcp-Session-Id: x\r\n'),
  request('GET /mcp', '', 'Mcp-Session-Id: x\r\nLast-Event-ID: 1\r\n'),
  request('OPTIONS /mcp', '', 'Origin: http://localhost:1\r\n'),
];

export const mcpRequests: Edge = {
  name: 'mcp-requests',
  runs: 40,
  open: () => gateway(MCP),
};

const API: readonly Buffer[] = [
  request('GET /api/servers'),
  request('POST /api/servers', '{"name":"n","entry":{"command":"true","args":["a"]},"scope":"user"}'),
  request('GET /api/servers/small'),
  request('DELETE /api/servers/n?scope=user'),
  request('POST /api/servers/small/connect', '{}'),
  request('POST /api/servers/small/auth', '{"redirectUri":"http://127.0.0.1/"}'),
  request('GET /api/tools?server=small'),
  request('GET /api/search?q=echo&limit=3'),
  request('POST /api/call', '{"tool":"mcp__small__echo","arguments":{"message":"x"},"timeoutMs":1000}'),
  request('GET /api/calls?limit=2'),
  request('GET /api/stats'),
  request('POST /api/approvals/1', '{"decision":"allow"}'),
  request('GET /api/events', '', 'Last-Event-ID: 1\r\n'),
  request('GET /api/openapi.json'),
  request('GET /'),
];

export const apiRequests: Edge = {
  name: 'api-requests',
  runs: 40,
  open: () => gateway(API),
};

/** A real gateway with its API; after every input, a plain request must be answered, and no setting may be lost. */
async function gateway(corpus: readonly Buffer[]): Promise<Probe> {
  const world = await openManagedGateway({
    script: { tools: { echo: ({ message }) => String(message) } },
    config: { mcpServers: { kept: { command: 'true', enabled: false } } },
    host: { toolSearch: false, approve: () => 'allow' },
  });
  return {
    corpus,
    async check(input) {
      const answer = await exchange(Number(world.port), measured(input));
      if (answer !== '' && !/^HTTP\/1\.1 \d{3} /.test(answer))
        throw new Error(`answered ${answer.slice(0, 200)}`);
      if (/^HTTP\/1\.1 500 /.test(answer) || answer.includes('"code":"INTERNAL"'))
        throw new Error(answer.slice(0, 2_000));
      const { status } = await world.api('GET', '/api/stats');
      if (status !== 200) throw new Error(`the request after it was answered with ${status}`);
      const { mcpServers } = world.readConfig() as { mcpServers: Record<string, unknown> };
      if (!Object.hasOwn(mcpServers, 'kept')) throw new Error('a configured server is gone');
    },
    close: () => world.close(),
  };
}

/** Everything that comes back until the other side ends, or has said nothing more for a moment. */
async function exchange(port: number, bytes: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (text) => {
    answer += text;
    // Streams stay open; the head of an answer is enough to judge it.
    if (answer.includes('\r\n\r\n')) socket.end();
  });
  socket.on('error', () => {});
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  const ended = once(socket, 'close');
  socket.write(bytes);
  await ended;
  return answer;
}

function measured(input: Buffer): Buffer {
  const end = input.indexOf('\r\n\r\n');
  if (end < 0) return input;
  const head = input.toString('latin1', 0, end).replace(LENGTH, `Content-Length: ${input.length - end - 4}`);
  return Buffer.concat([Buffer.from(head, 'latin1'), input.subarray(end)]);
}
