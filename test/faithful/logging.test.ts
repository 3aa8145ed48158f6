import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Carrier, type Era, type Message, RawGateway } from './raw-client.ts';

const ERAS: readonly Era[] = ['legacy', 'modern'];
const CARRIERS: readonly Carrier[] = ['stdio', 'http'];
const LEVEL = 'io.modelcontextprotocol/logLevel';
const ALL = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

const gateway = new RawGateway();
beforeAll(async () => {
  await gateway.open({
    'legacy-stdio': ['logging-server.mjs'],
    'legacy-http': ['logging-server.mjs', '--http'],
    'modern-stdio': ['logging-server.mjs', '--modern'],
    'modern-http': ['logging-server.mjs', '--modern', '--http'],
  });
});
afterAll(() => gateway.close());

const matrix = ERAS.flatMap((era) =>
  CARRIERS.flatMap((carrier) =>
    ERAS.flatMap((of) => CARRIERS.map((by) => ({ era, carrier, server: `${of}-${by}` }))),
  ),
);

describe('log messages through the gateway', () => {
  // Protocol: 25-logging-3b, 25-logging-3c, 26-logging-5, 26-logging-7b, 26-logging-7c
  it.each(matrix)(
    'SRV-1: a $era client over $carrier gets every level, data and logger of a $server server',
    async ({ era, carrier, server }) => {
      const client = await gateway.client({ era, carrier });
      const log = async (level: string): Promise<{ asked: unknown; got: Message[] }> => {
        if (era === 'legacy') await client.request('logging/setLevel', { level });
        const before = client.notifications.length;
        const meta = era === 'modern' ? { [LEVEL]: level } : {};
        const result = await client.request('tools/call', { name: `${server}__log`, arguments: {} }, meta);
        const [{ text }] = result['content'] as [{ text: string }];
        await client.heard('notifications/message', ({ data }) => data === 'plain');
        return {
          asked: text,
          got: client.notifications.slice(before).map(({ params }) => params as Message),
        };
      };
      const debug = await log('debug');
      const _meta = { 'plugboard/server': server };
      const structured = (level: string): Message => ({
        level,
        logger: 'db',
        data: { said: level, list: [1, { deep: null }], hidden: 'ab' },
        'com.example/field': true,
        _meta,
      });
      expect(debug).toEqual({
        asked: 'debug',
        got: [...ALL.map(structured), { level: 'emergency', logger: server, data: 'plain', _meta }],
      });
      // The host asks for info at least; a client gets what it asked for itself.
      const alert = await log('alert');
      expect(alert.got.map(({ level }) => level)).toEqual(['alert', 'emergency', 'emergency']);
      client.leave();
    },
  );

  // Protocol: 26-logging-4
  it.each(CARRIERS)('a modern client over %s that asks for no messages gets none', async (carrier) => {
    const client = await gateway.client({ era: 'modern', carrier });
    for (const server of ['legacy-stdio', 'modern-stdio', 'legacy-http', 'modern-http'])
      await client.request('tools/call', { name: `${server}__log`, arguments: { later: true } });
    expect(client.notifications).toEqual([]);
  });

  // Protocol: 25-logging-1, 25-logging-2, 26-logging-3, 26-logging-6
  it.each(CARRIERS)(
    'logging is declared in both eras, and an unknown level is −32602 (%s)',
    async (carrier) => {
      const modern = await gateway.client({ era: 'modern', carrier });
      const legacy = await gateway.client({ era: 'legacy', carrier });
      const loud = { level: 'loud' };
      const codes = [
        await legacy.exchange('logging/setLevel', loud),
        await legacy.exchange('logging/setLevel', {}),
        await modern.exchange('tools/list', {}, { [LEVEL]: 'loud' }),
        await modern.exchange('tools/call', { name: 'legacy-stdio__log', arguments: {} }, { [LEVEL]: 7 }),
      ].map(({ error }) => (error as Message | undefined)?.['code']);
      expect({
        codes,
        declared: [modern, legacy].map(
          ({ initialized }) => (initialized['capabilities'] as Message)['logging'],
        ),
      }).toEqual({ codes: [-32602, -32602, -32602, -32602], declared: [{}, {}] });
    },
  );

  // Protocol: 25-logging-5c, 26-logging-9c
  it('CON-13: messages that only one client requested are not in the log of the host, and the host has data and logger', async () => {
    const heard: Message[] = [];
    const stop = gateway.host.on('log', (event) => void heard.push({ ...event }));
    const client = await gateway.client({ era: 'legacy', carrier: 'stdio' });
    await client.request('logging/setLevel', { level: 'debug' });
    await client.request('tools/call', { name: 'legacy-stdio__log', arguments: {} });
    await client.heard('notifications/message', ({ data }) => data === 'plain');
    stop();
    expect(heard.map(({ level }) => level)).toEqual([...ALL.slice(1), 'emergency']);
    expect(heard[0]).toMatchObject({
      server: 'legacy-stdio',
      level: 'info',
      logger: 'db',
      message: '{"said":"info","list":[1,{"deep":null}],"hidden":"ab"}',
      data: { said: 'info', list: [1, { deep: null }], hidden: 'ab' },
    });
  });
});
