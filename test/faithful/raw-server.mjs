/**
 * A hand-made server without our code or an SDK: JSON-RPC over stdio or, with `--http`, over Streamable HTTP.
 * It keeps what it received, and the method `test/received` of a tool call gives it back.
 */

import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const META = 'io.modelcontextprotocol/';
export const MODERN = '2026-07-28';
export const era = process.argv.includes('--modern') ? 'modern' : 'legacy';

export const received = [];
/** Legacy HTTP: where messages go that belong to no request. */
const streams = new Set();
const pending = new Map();
let write = () => {};
let asked = 0;

/** Sends what belongs to no request. */
export function notify(method, params) {
  write({ jsonrpc: '2.0', method, params });
}

/** Asks the client something, as servers of the legacy era do. */
export function ask(method, params, send = write) {
  asked += 1;
  const id = `ask-${asked}`;
  send({ jsonrpc: '2.0', id, method, params });
  return new Promise((resolve) => pending.set(id, resolve));
}

export class RpcError extends Error {
  constructor(code, message, data) {
    super(message);
    Object.assign(this, { code, data });
  }
}

/**
 * `handlers`: by method, called with `(params, { send, id })`; `send` writes on the stream of the request.
 * `capabilities` and `tools` are answered for both eras.
 */
export async function serve({ capabilities, tools, handlers, called }) {
  const serverInfo = { name: 'raw', version: '1' };
  const builtIn = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities, serverInfo }),
    'server/discover': () => ({ supportedVersions: [MODERN], capabilities, ttlMs: 0, cacheScope: 'private' }),
    ping: () => ({}),
    'tools/list': () => ({ tools: [...tools, tool('received')], ttlMs: 0, cacheScope: 'private' }),
    'tools/call': (params, exchange) =>
      params.name === 'received' ? text(JSON.stringify(received)) : called(params, exchange),
    ...handlers,
  };
  const other = era === 'modern' ? 'initialize' : 'server/discover';
  const answer = async (message, send) => {
    received.push(message);
    const { id, method, params = {} } = message;
    if (method === undefined) {
      pending.get(id)?.(message.result ?? message.error);
      pending.delete(id);
      return;
    }
    const handler = method === other ? undefined : builtIn[method];
    if (id === undefined) return;
    try {
      if (handler === undefined) throw new RpcError(-32601, `no method ${method}`);
      const result = await handler(params, { send, id });
      send({ jsonrpc: '2.0', id, result: era === 'modern' ? { resultType: 'complete', ...result } : result });
    } catch ({ code = -32603, message: why, data }) {
      send({ jsonrpc: '2.0', id, error: { code, message: why, ...(data === undefined ? {} : { data }) } });
    }
  };
  if (!process.argv.includes('--http')) {
    write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
    createInterface({ input: process.stdin })
      .on('line', (line) => void answer(JSON.parse(line), write))
      .on('close', () => process.exit(0));
    return;
  }
  write = (message) => {
    for (const stream of streams) stream.write(event(message));
  };
  const server = createServer((request, response) => {
    const begin = () =>
      response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 'raw' });
    if (request.method === 'GET' && era === 'legacy') {
      begin().flushHeaders();
      streams.add(response.on('close', () => streams.delete(response)));
      return;
    }
    if (request.method !== 'POST') return void response.writeHead(405).end();
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const message = JSON.parse(body);
      if (message.id === undefined || message.method === undefined) {
        response.writeHead(202).end();
        void answer(message, write);
        return;
      }
      begin();
      response.on('close', () => {
        if (!response.writableEnded) received.push({ closed: message.method });
      });
      void answer(message, (each) => response.write(event(each))).then(() => response.end());
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}

export const tool = (name, more = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
export const text = (value) => ({ content: [{ type: 'text', text: value }] });
export const levelOf = ({ _meta }) => _meta?.[`${META}logLevel`];
const event = (message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
