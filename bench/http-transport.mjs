/**
 * One call over Streamable HTTP: our transport beside the SDK's client and bare undici, interleaved in one
 * run, against a bare JSON server and the SDK's own. `node bench/http-transport.mjs [rounds]`
 */

import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { record } from './records.mjs';

const CALLS_A_ROUND = 200;
const CONCURRENCY = 64;
const CONCURRENT_CALLS_A_ROUND = 2000;
const WARM_UP_CALLS = 300;
const self = fileURLToPath(import.meta.url);

if (process.argv[2] === '--serve') await serve(process.argv[3]);
else await measure(Number(process.argv[2] ?? 10));

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
    const result =
      message.method === 'initialize'
        ? {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'bare', version: '1' },
          }
        : { content: [{ type: 'text', text: message.params.arguments.text }] };
    const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result });
    return res
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  });
}

async function sdkListener() {
  const { McpServer, WebStandardStreamableHTTPServerTransport } = await import(
    '@modelcontextprotocol/server'
  );
  const { z } = await import('zod');
  return async (req, res) => {
    if (req.method !== 'POST') return res.writeHead(405).end();
    const server = new McpServer({ name: 'sdk', version: '1' });
    server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
      content: [{ type: 'text', text }],
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

async function sdkClient(url) {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(url));
  return {
    call: async (text) => (await client.callTool({ name: 'echo', arguments: { text } })).content[0].text,
    close: () => client.close(),
  };
}

async function buildOurs() {
  const { build } = await import('esbuild');
  const outfile = fileURLToPath(new URL('../node_modules/.cache/bench/http-transport.mjs', import.meta.url));
  await build({
    stdin: {
      contents: "export * from './src/transport/http.ts'; export * from './src/lib/clock.ts';",
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
    const clients = {
      undici: await bareClient(url),
      plugboard: await plugboardClient(url, ours),
      sdk: await sdkClient(url),
    };
    const times = { undici: [], plugboard: [], sdk: [] };
    const rates = { undici: [], plugboard: [], sdk: [] };
    for (const client of Object.values(clients)) await sequential(client, WARM_UP_CALLS);
    for (let round = 0; round < rounds; round++) {
      for (const [name, client] of Object.entries(clients))
        times[name].push(...(await sequential(client, CALLS_A_ROUND)));
      for (const [name, client] of Object.entries(clients)) rates[name].push(await concurrent(client));
    }
    for (const client of Object.values(clients)) await client.close();
    server.disconnect();
    report(kind, times, rates);
  }
}

async function sequential(client, calls) {
  const times = [];
  for (let n = 0; n < calls; n++) {
    const start = performance.now();
    const text = await client.call(`call ${n}`);
    times.push(performance.now() - start);
    if (text !== `call ${n}`) throw new Error(`wrong answer: ${text}`);
  }
  return times;
}

async function concurrent(client) {
  let left = CONCURRENT_CALLS_A_ROUND;
  const start = performance.now();
  const worker = async () => {
    while (left-- > 0) await client.call('together');
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return (CONCURRENT_CALLS_A_ROUND * 1000) / (performance.now() - start);
}

function report(kind, times, rates) {
  const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
  console.log(`\n${kind} server           p50 ms   × sdk   calls/s at ${CONCURRENCY}   × sdk`);
  const sdk = { p50: median(times.sdk), rate: median(rates.sdk) };
  for (const name of Object.keys(times)) {
    const p50 = median(times[name]);
    const rate = median(rates[name]);
    console.log(
      `${name.padEnd(20)} ${p50.toFixed(3).padStart(8)} ${(p50 / sdk.p50).toFixed(2).padStart(7)} ${rate.toFixed(0).padStart(15)} ${(rate / sdk.rate).toFixed(2).padStart(7)}`,
    );
    const seq = { measure: `HTTP, ${kind} server, p50`, unit: 'ms', base: 'sdk' };
    record({ ...seq, name, value: p50, ratio: p50 / sdk.p50 });
    const many = { measure: `HTTP, ${kind} server, ${CONCURRENCY} at once`, unit: 'calls/s', base: 'sdk' };
    record({ ...many, name, value: rate, ratio: rate / sdk.rate });
  }
}
