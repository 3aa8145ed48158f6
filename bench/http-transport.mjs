/**
 * One call over Streamable HTTP: our transport beside the SDKs' clients, the AI SDK's and bare undici, interleaved in one
 * run, against a bare JSON server and the SDK's own; in a row, 64 at once, and with results of 1 KB and 1 MB.
 * `node bench/http-transport.mjs [rounds]`
 */

import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { moduleUrl, opened, sdkV1Url } from './peers.mjs';
import { interleave, sequential as p50, concurrent as rate, roundsOf, table } from './rounds.mjs';
import { aiSdkTools } from './stdio-clients.mjs';

const CALLS_A_ROUND = 200;
const CONCURRENCY = 64;
const CONCURRENT_CALLS_A_ROUND = 1000;
const SIZES = [
  { name: '1 KB', bytes: 1_024, calls: 100 },
  { name: '1 MB', bytes: 1_048_576, calls: 5 },
];
const SDK_V2 = 'SDK v2 client';
const self = fileURLToPath(import.meta.url);

if (process.argv[2] === '--serve') await serve(process.argv[3]);
else await measure(roundsOf(process.argv[2], 10));

async function serve(kind) {
  const listener = kind === 'sdk' ? await sdkListener() : bareListener;
  const server = createServer(listener).listen(0, '127.0.0.1', () => process.send(server.address().port));
  server.keepAliveTimeout = 60_000;
  process.on('disconnect', () => process.exit());
}

function readJson(req, done) {
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => done(chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString())));
}

function bareListener(req, res) {
  if (req.method !== 'POST') return res.writeHead(405).end();
  return readJson(req, (message) => {
    if (message.id === undefined) return res.writeHead(202).end();
    const result = bareAnswer(message);
    const reply = result === undefined ? { error: { code: -32601, message: 'unknown method' } } : { result };
    const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, ...reply });
    return res
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  });
}

const ECHO = { name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } };

function bareAnswer({ method, params }) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'bare', version: '1' },
      };
    case 'tools/list':
      return { tools: [ECHO] };
    case 'tools/call':
      return { content: [{ type: 'text', text: textOf(params.arguments) }] };
  }
}

/** What is asked for as `#bytes` is so long; anything else comes back. */
function textOf({ text }) {
  return text.startsWith('#') ? 'x'.repeat(Number(text.slice(1))) : text;
}

async function sdkListener() {
  const { McpServer, WebStandardStreamableHTTPServerTransport } = await import(
    '@modelcontextprotocol/server'
  );
  const { z } = await import('zod');
  return async (req, res) => {
    if (req.method !== 'POST') return res.writeHead(405).end();
    const server = new McpServer({ name: 'sdk', version: '1' });
    server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, (given) => ({
      content: [{ type: 'text', text: textOf(given) }],
    }));
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
    });
    await server.connect(transport);
    return readJson(req, async (parsedBody) => {
      const request = new Request(`http://server${req.url}`, {
        method: 'POST',
        headers: req.headers,
        body: JSON.stringify(parsedBody),
      });
      const response = await transport.handleRequest(request, { parsedBody });
      res.writeHead(response.status, Object.fromEntries(response.headers));
      res.end(Buffer.from(await response.arrayBuffer()));
      await server.close();
    });
  };
}

/** Each client is `call(text)` → text, and `close()`. */
async function bareClient(url) {
  const { Pool } = await import('undici');
  const pool = new Pool(url.origin, { connections: 128 });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  let id = 0;
  return {
    async call(text) {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: ++id,
        method: 'tools/call',
        params: { name: 'echo', arguments: { text } },
      });
      const response = await pool.request({ method: 'POST', path: url.pathname, headers, body });
      const message = await response.body.json();
      return message.result.content[0].text;
    },
    close: () => pool.destroy(),
  };
}

async function plugboardClient(url, { createHttpTransport, systemClock }) {
  const transport = createHttpTransport({ url, clock: systemClock });
  const waiting = new Map();
  await transport.open({
    message(message) {
      waiting.get(message.id)?.resolve(message.result);
      waiting.delete(message.id);
    },
    lost: (id, error) => waiting.get(id)?.reject(error),
    closed() {},
    notice() {},
  });
  let next = 0;
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      const id = ++next;
      waiting.set(id, { resolve, reject });
      // A signal for each request, as the peer has one for its timeout.
      const { signal } = new AbortController();
      transport.send({ jsonrpc: '2.0', id, method, params }, { signal }).catch(reject);
    });
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  });
  transport.negotiated('2025-11-25');
  await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return {
    call: async (text) =>
      (await request('tools/call', { name: 'echo', arguments: { text } })).content[0].text,
    close: () => transport.close(),
  };
}

async function sdkClient(url, { Client, StreamableHTTPClientTransport }) {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(url));
  return {
    call: async (text) => (await client.callTool({ name: 'echo', arguments: { text } })).content[0].text,
    close: () => client.close(),
  };
}

async function sdkV1() {
  const { Client } = await import(await sdkV1Url('client/index.js'));
  const { StreamableHTTPClientTransport } = await import(await sdkV1Url('client/streamableHttp.js'));
  return { Client, StreamableHTTPClientTransport };
}

async function aiSdkClient(url) {
  const { createMCPClient } = await import(await moduleUrl('@ai-sdk/mcp/dist/index.js'));
  const { call, close } = await aiSdkTools(
    await createMCPClient({ transport: { type: 'http', url: url.href } }),
  );
  return { call: async (text) => (await call('echo', { text })).content[0].text, close };
}

async function buildOurs() {
  const { build } = await import('esbuild');
  const outfile = fileURLToPath(new URL('../node_modules/.cache/bench/http-transport.mjs', import.meta.url));
  await build({
    stdin: {
      contents: "export * from './src/transport/http-transport.ts'; export * from './src/lib/clock.ts';",
      resolveDir: fileURLToPath(new URL('..', import.meta.url)),
    },
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return import(outfile);
}

async function measure(rounds) {
  // The SDK's client warns of listeners on its one signal; printing that would be held against it.
  process.removeAllListeners('warning');
  const ours = await buildOurs();
  for (const kind of ['bare', 'sdk']) {
    const server = fork(self, ['--serve', kind]);
    const port = await new Promise((resolve) => server.once('message', resolve));
    const url = new URL(`http://127.0.0.1:${port}/mcp`);
    const named = kind === 'bare' ? 'bare server' : 'SDK server';
    const inARow = `HTTP, ${named}, one call after another, p50`;
    const atOnce = `HTTP, ${named}, ${CONCURRENCY} at once`;
    const large = SIZES.map(({ name }) => `HTTP, ${named}, a result of ${name}, p50`);
    const contenders = await opened(
      [
        { name: 'bare undici (limit)', open: () => bareClient(url) },
        { name: 'plugboard', open: () => plugboardClient(url, ours) },
        {
          name: SDK_V2,
          open: async () => sdkClient(url, await import('@modelcontextprotocol/client')),
        },
        { name: 'SDK v1 client', open: async () => sdkClient(url, await sdkV1()) },
        { name: '@ai-sdk/mcp', open: () => aiSdkClient(url) },
      ].map((candidate) => ({ ...candidate, open: () => answering(candidate) })),
      [inARow, atOnce, ...large],
    );
    const measured = (title, results, more) => table(title, results, { base: SDK_V2, ...more });
    const slow = await interleave(contenders, rounds, ({ call }) =>
      p50((n) => call(`call ${n}`), CALLS_A_ROUND),
    );
    measured(inARow, slow, { unit: 'µs' });
    const fast = await interleave(contenders, rounds, ({ call }) =>
      rate(() => call('together'), CONCURRENT_CALLS_A_ROUND, CONCURRENCY),
    );
    const headline = kind === 'bare' ? `Calls over HTTP, ${CONCURRENCY} at once` : undefined;
    measured(atOnce, fast, { unit: 'calls/s', headline });
    for (const [at, { bytes, calls }] of SIZES.entries()) {
      const results = await interleave(contenders, rounds, ({ call }) => p50(() => call(`#${bytes}`), calls));
      measured(large[at], results, { unit: 'µs' });
    }
    for (const { close } of contenders) await close();
    server.disconnect();
  }
}

/** Who does not give back what was sent is not measured. */
async function answering({ open }) {
  const client = await open();
  for (const [asked, length] of [
    ['hello', 5],
    ['#1048576', 1_048_576],
  ]) {
    const { length: found } = await client.call(asked);
    if (found !== length) throw new Error(`${found} characters in place of ${length}`);
  }
  return client;
}
