import { expect, it } from 'vitest';
import { serveHttp } from '../../src/manage/index.ts';
import { legacySession, modern, post } from '../serve/bare-client.ts';
import { smallHost } from '../serve/small-host.ts';

const QUESTION = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
};

it('SRV-20.7: a question that one client leaves open keeps no log message from another', async () => {
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
