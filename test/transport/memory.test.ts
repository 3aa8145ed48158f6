import { expect, it } from 'vitest';
import { PlugboardError } from '../../src/errors.ts';
import { memoryPair } from '../../src/testing/index.ts';
import { collector } from '../testing/collector.ts';

async function openPair() {
  const [client, server] = memoryPair();
  const atClient = collector();
  const atServer = collector();
  await server.open(atServer);
  await client.open(atClient);
  return { client, server, atClient, atServer };
}

// Protocol: 25-transports-52, 26-transports-2, 26-transports-3
it('KIT-3: messages arrive in order and never share an object with their sender', async () => {
  const { client, atServer } = await openPair();
  const params = { list: [1] };
  await client.send({ jsonrpc: '2.0', id: 1, method: 'one', params });
  params.list.push(2);
  await client.send({ jsonrpc: '2.0', method: 'two' });
  expect(await atServer.received(2)).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'one', params: { list: [1] } },
    { jsonrpc: '2.0', method: 'two' },
  ]);
});

it('KIT-3: messages sent before the other end opened are delivered when it opens', async () => {
  const [client, server] = memoryPair();
  await client.open(collector());
  await client.send({ jsonrpc: '2.0', method: 'early' });
  const late = collector();
  await server.open(late);
  expect(await late.received(1)).toEqual([{ jsonrpc: '2.0', method: 'early' }]);
});

it('KIT-3: messages sent before a crash still arrive, then one closed with its error at both ends', async () => {
  const { client, server, atClient, atServer } = await openPair();
  const error = new PlugboardError('CONNECTION_LOST', 'gone', { detail: { exitCode: 3 } });
  await server.send({ jsonrpc: '2.0', id: 1, result: {} });
  server.crash(error);
  server.crash();
  await server.close();
  expect(await atClient.ended).toBe(error);
  expect(atClient.messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  await client.close();
  expect([atClient.endings, atServer.endings]).toEqual([[error], [error]]);
});

it('KIT-3: close() ends its own side without an error, and the other side with one', async () => {
  const { client, atClient, atServer } = await openPair();
  await client.close();
  await client.close();
  expect(atClient.endings).toEqual([undefined]);
  expect((await atServer.ended)?.toJSON()).toEqual({
    code: 'CONNECTION_LOST',
    message: 'The other end closed the connection',
  });
});

it('KIT-3: sending before open, after close or with an aborted signal rejects as not sent', async () => {
  const [client] = memoryPair();
  const message = { jsonrpc: '2.0', method: 'x' } as const;
  const refused = async (promise: Promise<void>) => {
    const error = await promise.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return error instanceof PlugboardError ? [error.code, error.detail] : error;
  };
  expect(await refused(client.send(message))).toEqual(['CONNECTION_LOST', { notSent: true }]);
  await client.open(collector());
  expect(await refused(client.send(message, { signal: AbortSignal.abort() }))).toEqual([
    'CANCELLED',
    { notSent: true },
  ]);
  await client.close();
  expect(await refused(client.send(message))).toEqual(['CONNECTION_LOST', { notSent: true }]);
  expect(await refused(client.open(collector()))).toEqual(['CONNECTION_LOST', { notSent: true }]);
});

it('F10: a line that is not a JSON object is a notice, not a message', async () => {
  const { server, atClient } = await openPair();
  server.line('Listening on stdio');
  server.line('[1]');
  server.line('{"jsonrpc":"2.0","id":7}');
  expect(await atClient.received(1)).toEqual([{ jsonrpc: '2.0', id: 7 }]);
  expect(atClient.notices).toEqual([
    'Ignored a line that is not JSON-RPC: Listening on stdio',
    'Ignored a line that is not JSON-RPC: [1]',
  ]);
});

it('KIT-3: an end that never reads is a limit, not memory without end', async () => {
  const [client] = memoryPair();
  await client.open(collector());
  const flood = async () => {
    for (;;) await client.send({ jsonrpc: '2.0', method: 'flood' });
  };
  await expect(flood()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', detail: { notSent: true } });
});
