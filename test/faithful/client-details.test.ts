import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../world/until.ts';
import { type Carrier, type Era, type Message, RawGateway } from './raw-client.ts';

const SERVER = 'details-server.mjs';
const CARRIERS: readonly Carrier[] = ['stdio', 'http'];
const ERAS: readonly Era[] = ['legacy', 'modern'];
const SERVERS = ERAS.flatMap((era) => CARRIERS.map((by) => ({ era, by, server: `${era}-${by}` })));

const gateway = new RawGateway();
const warnings: { server: string | undefined; message: string }[] = [];
beforeAll(async () => {
  const args = (era: Era, by: Carrier): string[] => [
    ...(era === 'modern' ? ['--modern'] : []),
    ...(by === 'http' ? ['--http'] : []),
  ];
  await gateway.open({
    ...Object.fromEntries(
      SERVERS.map(({ era, by, server }) => [server, [SERVER, ...args(era, by)] as const]),
    ),
    circle: [SERVER, '--modern', '--circle'],
    refuse: [SERVER, '--refuse'],
  });
  gateway.host.on('log', ({ server, level, message }) => {
    if (level === 'warning') warnings.push({ server, message });
  });
});
afterAll(() => gateway.close());

const toolsOf = (server: string): string[] =>
  gateway.host.tools({ all: true }).flatMap((tool) => (tool.server === server ? [tool.tool] : []));

/** Everything that a server was sent so far. */
async function received(server: string): Promise<Message[]> {
  const client = await gateway.client({ era: 'modern', carrier: 'stdio' });
  const result = await client.request('tools/call', { name: `${server}__received`, arguments: {} });
  return JSON.parse((result['content'] as [{ text: string }])[0].text) as Message[];
}

describe('the small print of servers', () => {
  // Protocol: 25-pagination-4, 26-pagination-5, 26-pagination-6
  it.each(SERVERS)('CAT-2: an empty nextCursor of a $era server over $by is a cursor', async ({ server }) => {
    const { resources, templates } = await gateway.host.resources(server);
    const prompts = await gateway.host.prompts(server);
    expect({
      tools: toolsOf(server),
      rest: [resources, templates, prompts].map((list) => list.map(({ name }) => name)),
    }).toEqual({
      tools: ['asks', 'fate', 'hang', 'odd', 'received', 'two'],
      rest: [['odd', 'two'], ['two'], ['odd', 'two']],
    });
  });

  it.each(['circle', 'refuse'])(
    'F30: an empty nextCursor that leads nowhere (%s) ends the list, with a warning',
    async (server) => {
      const { resources } = await gateway.host.resources(server);
      expect([toolsOf(server), resources.map(({ name }) => name)]).toEqual([
        ['asks', 'fate', 'hang', 'odd', 'received'],
        ['odd'],
      ]);
      expect(warnings).toContainEqual({
        server,
        message: expect.stringMatching(/^the list of resources: the empty cursor .* is taken as the end/),
      });
    },
  );

  // Protocol: 26-base-9, 26-base-10
  it.each(CARRIERS)(
    'an unknown resultType of a modern server over %s is an error, never an empty success',
    async (by) => {
      const { host } = gateway;
      const server = `modern-${by}`;
      const client = await gateway.client({ era: 'legacy', carrier: 'stdio' });
      const call = await client.exchange('tools/call', { name: `${server}__odd`, arguments: {} });
      const refused = async (work: Promise<unknown>): Promise<unknown> =>
        work.then(
          () => 'answered',
          (error: Error) => error.message,
        );
      const ref = { server, type: 'ref/prompt', name: 'odd' } as const;
      expect(JSON.stringify(call)).toContain('unknown resultType');
      expect(
        await Promise.all([
          refused(host.read(server, 'test://odd')),
          refused(host.prompt(server, 'odd', {})),
          refused(host.complete(ref, { name: 'a', value: '' })),
        ]),
      ).toEqual(Array(3).fill(expect.stringContaining('unknown resultType: "hologram"')));
    },
  );

  it('a field of that name in a legacy result means nothing', async () => {
    const client = await gateway.client({ era: 'legacy', carrier: 'stdio' });
    const { error } = await client.exchange('tools/call', { name: 'legacy-stdio__odd', arguments: {} });
    expect(error).toBeUndefined();
  });

  // Protocol: 26-http-11, 26-stdio-6
  it.each(CARRIERS)(
    'a modern server over %s gets no responses, and one warning for its requests',
    async (by) => {
      const server = `modern-${by}`;
      const client = await gateway.client({
        era: 'legacy',
        carrier: 'stdio',
        capabilities: { elicitation: {} },
      });
      for (let n = 0; n < 2; n += 1)
        await client.request('tools/call', { name: `${server}__asks`, arguments: {} });
      const responses = (await received(server)).filter((one) => !('method' in one) && !('closed' in one));
      const about = warnings.filter((one) => one.server === server && one.message.includes('forbids'));
      expect({ responses, asked: client.asked, warnings: about.length }).toEqual({
        responses: [],
        asked: [],
        warnings: 1,
      });
    },
  );

  // Protocol: 26-cancellation-1, 26-cancellation-5, 26-cancellation-7
  it('a cancelled request closes its stream at a modern HTTP server and posts nothing; a pipe gets the notification', async () => {
    const cancel = async (server: string): Promise<Message[]> => {
      const client = await gateway.client({ era: 'legacy', carrier: 'stdio' });
      const fate = async (
        fits: (seen: { hangs: boolean; fate: Message[] }) => boolean,
      ): Promise<Message[]> => {
        for (const until = Date.now() + PATIENCE_MS; Date.now() < until; ) {
          const { content } = await other.request('tools/call', { name: `${server}__fate`, arguments: {} });
          const seen = JSON.parse((content as [{ text: string }])[0].text);
          if (fits(seen)) return seen.fate;
        }
        throw new Error(`${server} saw neither a call nor a cancellation`);
      };
      const other = await gateway.client({ era: 'modern', carrier: 'stdio' });
      // Its first request was `initialize`.
      void client.exchange('tools/call', { name: `${server}__hang`, arguments: {} });
      await fate(({ hangs }) => hangs);
      client.notify('notifications/cancelled', { requestId: 2 });
      return fate((seen) => seen.fate.length > 0);
    };
    expect(await cancel('modern-http')).toEqual([{ closed: 'tools/call' }]);
    expect(await cancel('modern-stdio')).toMatchObject([{ method: 'notifications/cancelled' }]);
  });
});
