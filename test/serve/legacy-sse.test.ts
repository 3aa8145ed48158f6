import { Client, SSEClientTransport } from '@modelcontextprotocol/client';
import { afterEach, expect, it } from 'vitest';
import { serveHttp } from '../../src/serve/index.ts';
import { createGate } from '../../src/testing/index.ts';
import { send } from './bare-client.ts';
import { smallHost } from './small-host.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

// Protocol: 25-cancellation-4
it('SRV-1: a client that supports HTTP+SSE only is served behind the flag; when it disconnects, its call is cancelled (F55)', async () => {
  const begun = createGate();
  const cancelled = createGate();
  const small = await smallHost({
    tools: {
      echo: ({ message }) => String(message),
      wait: (_, { signal }) => {
        begun.open();
        signal.addEventListener('abort', () => cancelled.open());
        return new Promise(() => {});
      },
    },
  });
  const gateway = await serveHttp(small.host, { port: 0, legacySse: true });
  closers.push(small.close, gateway.close);
  const client = new Client({ name: 'old', version: '1' });
  await client.connect(new SSEClientTransport(new URL(gateway.url.replace('/mcp', '/sse'))));
  const { content } = await client.callTool({ name: 'small__echo', arguments: { message: 'hi' } });
  void client.callTool({ name: 'small__wait' }).catch(() => {});
  await begun.opened;
  await client.close();
  await cancelled.opened;
  expect(content).toEqual([{ type: 'text', text: 'hi' }]);
});

it('A7: without the flag there is no such door, and a stranger’s session id opens none', async () => {
  const small = await smallHost({});
  const closed = await serveHttp(small.host, { port: 0 });
  const open = await serveHttp(small.host, { port: 0, legacySse: true });
  closers.push(small.close, closed.close, open.close);
  const answers = [
    await send(closed.url.replace('/mcp', '/sse'), 'GET', undefined),
    await send(open.url.replace('/mcp', '/messages?sessionId=x'), 'POST', '{}'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
});
