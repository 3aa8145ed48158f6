import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../world/until.ts';
import { type Carrier, type Message, type RawClient, RawGateway } from './raw-client.ts';

const CARRIERS: readonly Carrier[] = ['stdio', 'http'];

const gateway = new RawGateway();
beforeAll(async () => {
  await gateway.open({
    stdio: ['subscriptions-server.mjs', '--modern'],
    http: ['subscriptions-server.mjs', '--modern', '--http'],
  });
});
afterAll(() => gateway.close());

/** Calls a tool of a server; the number of streams that it was asked for. */
async function streams(client: RawClient, server: string, tool = 'streams'): Promise<number> {
  const result = await client.request('tools/call', { name: `${server}__${tool}`, arguments: {} });
  return Number((result['content'] as [{ text: string }])[0].text);
}

async function addresses(client: RawClient, server: string): Promise<Record<string, string>> {
  const { resources } = (await client.request('resources/list')) as { resources: Message[] };
  const own = resources.filter((each) => JSON.stringify(each).includes(server));
  return Object.fromEntries(own.map(({ name, uri }) => [String(name).split(/[ :/]/).at(-1), String(uri)]));
}

describe('subscriptions at a modern server', () => {
  // Protocol: 26-subscriptions-8
  it.each(CARRIERS)(
    'a stream over %s that the server ends with notifications/cancelled is asked for again, and updates arrive',
    async (server) => {
      const { host } = gateway;
      const client = await gateway.client({ era: 'legacy', carrier: 'stdio' });
      const updates: string[] = [];
      let heard = (): void => {};
      const leave = await host.subscribe(server, 'test://kept', ({ uri }) => {
        updates.push(uri);
        heard();
      });
      const before = await streams(client, server);
      await streams(client, server, 'tear');
      for (const until = Date.now() + PATIENCE_MS; (await streams(client, server)) === before; )
        if (Date.now() > until) throw new Error('no new stream was asked for');
      const update = new Promise<void>((resolve) => {
        heard = resolve;
      });
      await streams(client, server, 'touch');
      await update;
      leave();
      expect(updates).toEqual(['test://kept']);
    },
  );

  // Protocol: 26-subscriptions-4
  it.each(CARRIERS)(
    'host.subscribe rejects where the acknowledgement over %s leaves the uri out',
    async (server) => {
      const { host } = gateway;
      await expect(host.subscribe(server, 'test://refused', () => {})).rejects.toMatchObject({
        code: 'INVALID_ARGUMENTS',
        server,
        message: 'The server does not announce changes of "test://refused"',
      });
      // The refusal harms no other subscription.
      const leave = await host.subscribe(server, 'test://kept', () => {});
      leave();
    },
  );

  it.each(CARRIERS)(
    'the gateway leaves a refused uri out of its acknowledgement over %s',
    async (carrier) => {
      const client = await gateway.client({ era: 'modern', carrier });
      const [own, other] = [await addresses(client, 'stdio'), await addresses(client, 'http')];
      const wanted = [own['kept'], own['refused'], other['kept'], other['refused']];
      void client.exchange('subscriptions/listen', { notifications: { resourceSubscriptions: wanted } });
      const { notifications } = await client.heard('notifications/subscriptions/acknowledged');
      expect(wanted).not.toContain(undefined);
      expect(notifications).toEqual({ resourceSubscriptions: [own['kept'], other['kept']] });
    },
  );

  it('a legacy client gets the refusal as the answer to resources/subscribe', async () => {
    const client = await gateway.client({ era: 'legacy', carrier: 'stdio' });
    const { refused = '', kept = '' } = await addresses(client, 'stdio');
    await client.request('resources/subscribe', { uri: kept });
    const { error } = await client.exchange('resources/subscribe', { uri: refused });
    expect(error).toMatchObject({ message: expect.stringContaining('does not announce changes') });
  });
});
