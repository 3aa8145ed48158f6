import { expect, it } from 'vitest';
import { serveHttp } from '../../src/serve/index.ts';
import { legacySession, modern, post } from '../serve/bare-client.ts';
import { LineClient } from '../serve/line-client.ts';
import { smallHost } from '../serve/small-host.ts';

const QUESTION = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
};

it('SRV-10.7: a question that one client leaves open keeps no log message from another', async () => {
  const { host, close } = await smallHost({
    eras: 'modern',
    capabilities: { tools: {}, logging: {} },
    tools: {
      ask: () => ({ resultType: 'input_required', inputRequests: { sure: QUESTION } }),
      log: (_, exchange) => {
        exchange.notify('notifications/message', { level: 'info', data: 'working' });
        return 'done';
      },
    },
  });
  const { url, close: stop } = await serveHttp(host, { port: 0 });
  const asked = await modern(url, 1, 'tools/call', { name: 'small__ask' }, { elicitation: {} });
  expect(asked.messages).toMatchObject([{ result: { resultType: 'input_required' } }]);
  const session = await legacySession(url);
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'small__log' } };
  const { messages } = await post(url, call, session);
  expect(messages).toMatchObject([
    { method: 'notifications/message', params: { level: 'info', data: 'working' } },
    { result: { content: [{ text: 'done' }] } },
  ]);
  await stop();
  await close();
});

it('SRV-10.7: a client gets its level from a process that has the roots of another client', async () => {
  let level = 'info';
  const { host, server, close } = await smallHost({
    eras: 'legacy',
    capabilities: { tools: {}, logging: {} },
    tools: {
      roots: async (_, exchange) => JSON.stringify(await exchange.request('roots/list')),
      log: (_, exchange) => {
        if (level === 'debug') exchange.notify('notifications/message', { level: 'debug', data: 'working' });
        return 'done';
      },
    },
  });
  server.on('logging/setLevel', ({ params }) => {
    level = String(params['level']);
    return {};
  });
  const roots = { roots: [{ uri: 'file:///home/ada/app' }] };
  const clients = [0, 1].map(() => new LineClient(host, '2025-11-25', { roots: {} }, () => roots));
  for (const client of clients) await client.open();
  const [first, second] = clients;
  await first?.request('tools/call', { name: 'small__roots' });
  await second?.request('logging/setLevel', { level: 'debug' });
  await second?.request('tools/call', { name: 'small__log' });
  const logs = second?.notifications.filter(({ method }) => method === 'notifications/message');
  expect(logs).toMatchObject([{ params: { level: 'debug', data: 'working' } }]);
  for (const client of clients) await client.leave();
  await close();
});
