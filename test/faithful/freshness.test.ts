import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHost } from '../../src/host/host.ts';
import { type Carrier, type Era, type Message, RawGateway } from './raw-client.ts';

const SERVER = 'freshness-server.mjs';
const LISTS = [
  ['tools', 'tools/list', 'tools'],
  ['resources', 'resources/list', 'resources'],
  ['templates', 'resources/templates/list', 'resourceTemplates'],
  ['prompts', 'prompts/list', 'prompts'],
] as const;
const CHANGES = [
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
];

const gateway = new RawGateway();
const matrix: readonly { era: Era; carrier: Carrier; by: Carrier; server: string }[] = [
  { era: 'legacy', carrier: 'stdio', by: 'http', server: 'one' },
  { era: 'legacy', carrier: 'http', by: 'stdio', server: 'two' },
  { era: 'modern', carrier: 'stdio', by: 'stdio', server: 'three' },
  { era: 'modern', carrier: 'http', by: 'http', server: 'four' },
];
beforeAll(async () => {
  await gateway.open({
    ...Object.fromEntries(
      matrix.map(({ by, server }) => [
        server,
        [SERVER, '--modern', '--ttl=0', ...(by === 'http' ? ['--http'] : [])] as const,
      ]),
    ),
    'calls-legacy': [SERVER],
    'calls-modern': [SERVER, '--modern', '--ttl=3600000'],
  });
});
afterAll(() => gateway.close());

const namesOf = (result: Message, key: string, server: string): string[] =>
  (result[key] as { name: string }[]).map(({ name }) => name).filter((name) => name.startsWith(server));

describe('lists of a modern server that announces no changes', () => {
  // Protocol: 26-caching-4, 26-caching-5, 26-caching-9
  it.each(matrix)(
    'a $era client over $carrier gets a stale list of a server over $by at once, then list_changed and the new one',
    async ({ era, carrier, server }) => {
      const client = await gateway.client({ era, carrier });
      if (era === 'modern') {
        const notifications = {
          toolsListChanged: true,
          resourcesListChanged: true,
          promptsListChanged: true,
        };
        void client.exchange('subscriptions/listen', { notifications });
        await client.heard('notifications/subscriptions/acknowledged');
      }
      const list = async (): Promise<Record<string, number>> => {
        const counts = LISTS.map(async ([name, method, key]) => {
          const result = await client.request(method);
          // Addresses and names of resources are the server's own: several servers have them.
          const items = key === 'tools' ? namesOf(result, key, server) : (result[key] as Message[]);
          const own = items.filter((item) => JSON.stringify(item).includes(server)).length;
          return [name, own] as const;
        });
        return Object.fromEntries(await Promise.all(counts));
      };
      const first = await list();
      await client.request('tools/call', { name: `${server}__shrink`, arguments: { hold: true } });
      // Its server answers none of these lists.
      const stale = await list();
      client.notifications.length = 0;
      await client.request('tools/call', { name: `${server}__release`, arguments: {} });
      for (const method of CHANGES) await client.heard(method);
      const fresh = await list();
      expect({ stale, tools: fresh['tools'] }).toEqual({ stale: first, tools: (first['tools'] ?? 0) - 1 });
    },
  );

  it.each(['legacy', 'modern'] as const)(
    'a call of a tool that a %s server has added since leads to one more list before it is refused',
    async (era) => {
      const client = await gateway.client({ era: 'modern', carrier: 'stdio' });
      const call = async (tool: string): Promise<Message> =>
        client.exchange('tools/call', { name: `calls-${era}__${tool}`, arguments: {} });
      const lists = async (): Promise<number> => {
        const { result } = await call('received');
        const [{ text }] = (result as { content: [{ text: string }] }).content;
        return (JSON.parse(text) as Message[]).filter(({ method }) => method === 'tools/list').length;
      };
      await call('grow');
      const before = await lists();
      const added = await call('added');
      const after = await lists();
      const unknown = await call('none');
      expect({
        added: added['result'],
        unknown: unknown['error'],
        lists: [after, await lists()],
      }).toMatchObject({
        added: { content: [{ type: 'text', text: 'added' }] },
        unknown: { code: -32602, data: { code: 'UNKNOWN_TOOL' } },
        lists: [before + 1, before + 2],
      });
    },
  );
});

describe('the description of a server', () => {
  it('CON-5: is read at each start in one round trip with the tools; the era alone is kept on disk', async () => {
    const home = await mkdtemp(join(tmpdir(), 'plugboard-about-'));
    const file = join(home, 'about.json');
    const program = fileURLToPath(new URL(SERVER, import.meta.url));
    const start = async (about: Message): Promise<Message> => {
      await writeFile(file, JSON.stringify(about));
      const args = [program, '--modern', '--ttl=86400000', `--about=${file}`];
      const host = await createHost({
        home,
        cwd: home,
        env: {},
        watch: false,
        servers: { s: { command: process.execPath, args, lifecycle: 'eager', approval: 'approve' } },
      });
      await host.ready();
      const { content } = await host.call('mcp__s__received');
      const [{ text } = { text: '' }] = content as readonly { text: string }[];
      const asked = (JSON.parse(text) as Message[]).map(({ method }) => method);
      const seen = { asked: asked.slice(0, 2), instructions: host.instructions(), prompts: 0 };
      seen.prompts = (await host.prompts()).length;
      await host.close();
      return seen;
    };
    const first = await start({ capabilities: { tools: {} }, instructions: 'old' });
    const second = await start({ capabilities: { tools: {}, prompts: {} }, instructions: 'new' });
    const kept = Object.values(
      JSON.parse(await readFile(join(home, 'cache', 'eras.json'), 'utf8')) as object,
    );
    await rm(home, { recursive: true, force: true });
    expect({ first, second, kept }).toEqual({
      first: { asked: ['server/discover', 'tools/list'], instructions: '## s\n\nold', prompts: 0 },
      second: { asked: ['server/discover', 'tools/list'], instructions: '## s\n\nnew', prompts: 2 },
      kept: [{ at: expect.any(Number), verdict: { era: 'modern' } }],
    });
  });
});
