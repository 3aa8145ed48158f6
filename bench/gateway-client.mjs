/** The barest client of a gateway, over Streamable HTTP in either era or over the old HTTP+SSE: post, read, compare. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

export const IN_FLIGHT = 64;
const START_MS = 30_000;
const META = 'io.modelcontextprotocol/';
const hello = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

/** Until the gateway is there: most do not say when. */
async function whenUp(ask) {
  for (let waited = 0; ; waited += 50) {
    try {
      return await ask();
    } catch (error) {
      if (waited > START_MS) throw error;
      await sleep(50);
    }
  }
}

/** A client with `request(method, params)`, `call(n)` and `close()`; `modern` for one of 2026-07-28. */
export async function connect(gateway, { modern = false, name = gateway.name } = {}) {
  const client = gateway.sse ? await overSse(gateway) : await overHttp(gateway, modern);
  const { tool } = gateway;
  return {
    ...client,
    name,
    gateway,
    async call(n) {
      const { result } = await client.request('tools/call', { name: tool, arguments: { message: `m${n}` } });
      if (result?.content[0].text !== `m${n}`) throw new Error(`${name} answered ${JSON.stringify(result)}`);
    },
  };
}

async function overHttp({ url, headers, tool }, modern) {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: IN_FLIGHT, pipelining: 1 });
  let given = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  };
  let id = 0;
  const post = async (body, more) => {
    const sent = {
      path: pathname,
      method: 'POST',
      headers: { ...given, ...more },
      body: JSON.stringify(body),
    };
    const answer = await pool.request(sent);
    return { answer, text: await answer.body.text() };
  };
  const read = (text) => JSON.parse(text.slice(text.startsWith('{') ? 0 : text.lastIndexOf('data: ') + 6));
  if (modern) {
    given = { ...given, 'mcp-protocol-version': '2026-07-28' };
    const _meta = { [`${META}protocolVersion`]: '2026-07-28', [`${META}clientCapabilities`]: {} };
    const request = async (method, params = {}) => {
      const named =
        method === 'tools/call' ? { 'mcp-method': method, 'mcp-name': tool } : { 'mcp-method': method };
      const body = { jsonrpc: '2.0', id: ++id, method, params: { ...params, _meta } };
      return read((await post(body, named)).text);
    };
    await whenUp(() => request('tools/list'));
    return { request, close: () => pool.destroy() };
  }
  const session = await whenUp(async () => {
    const { answer } = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params: hello });
    if (answer.statusCode !== 200) throw new Error(`HTTP ${answer.statusCode} from ${url}`);
    return answer.headers['mcp-session-id'];
  });
  given = {
    ...given,
    'mcp-protocol-version': '2025-06-18',
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  };
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return {
    async request(method, params = {}) {
      return read((await post({ jsonrpc: '2.0', id: ++id, method, params })).text);
    },
    close: () => pool.destroy(),
  };
}

async function overSse({ url, headers }) {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: IN_FLIGHT + 1, pipelining: 1, bodyTimeout: 0 });
  const stream = await whenUp(() =>
    pool.request({ path: pathname, method: 'GET', headers: { accept: 'text/event-stream', ...headers } }),
  );
  const waiting = new Map();
  let id = 0;
  let place;
  const opened = new Promise((resolve) => {
    place = resolve;
  });
  let rest = '';
  stream.body.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith('data: ')) continue;
      const data = line.slice('data: '.length);
      if (data.startsWith('/')) place(data);
      else {
        const message = JSON.parse(data);
        waiting.get(message.id)?.(message);
        waiting.delete(message.id);
      }
    }
  });
  stream.body.on('error', () => {});
  const path = await opened;
  const send = async (body) => {
    const sent = { path, method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    await (await pool.request({ ...sent, body: JSON.stringify(body) })).body.dump();
  };
  const request = async (method, params = {}) => {
    const answered = new Promise((resolve) => {
      waiting.set(++id, resolve);
    });
    await send({ jsonrpc: '2.0', id, method, params });
    return answered;
  };
  await request('initialize', hello);
  await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return { request, close: () => pool.destroy() };
}
