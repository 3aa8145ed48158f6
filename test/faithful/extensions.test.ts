import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  allClients,
  type Json,
  openRawGateway,
  type RawClient,
  type RawGateway,
  seenBy,
} from '../world/raw-gateway.ts';

const UI = 'io.modelcontextprotocol/ui';
const SKILLS = 'io.modelcontextprotocol/skills';
const CLIENT = { extensions: { [UI]: { mimeTypes: ['text/html;profile=mcp-app'] }, [SKILLS]: {} } };
const SKILL = '---\r\nname: refunds\r\n---\r\nمی‌خواهم\r\n';
const PAGE = '<html>\r\n<script>"a\u200Cb"</script></html>';

const tool = (name: string, _meta?: object): object => ({
  name,
  inputSchema: { type: 'object' },
  ...(_meta === undefined ? {} : { _meta }),
});

const answers = {
  'tools/list': {
    result: {
      tools: [
        tool('seen'),
        tool('rich', { ui: { resourceUri: 'ui://time/app.html', visibility: ['app'] } }),
        tool('both', { ui: { visibility: ['model', 'app'] } }),
      ],
    },
  },
  'tools/call rich': { result: { content: [{ type: 'text', text: 'rich' }] } },
  'tools/call both': { result: { content: [{ type: 'text', text: 'both' }] } },
  'resources/read ui://time/app.html': {
    result: { contents: [{ uri: 'ui://time/app.html', mimeType: 'text/html', text: PAGE }] },
  },
  'resources/read skill://refunds/SKILL.md': {
    result: { contents: [{ uri: 'skill://refunds/SKILL.md', mimeType: 'text/markdown', text: SKILL }] },
  },
  'resources/read': { error: { code: -32602, message: 'not found' } },
  'skills/list': {
    result: {
      skills: [{ uri: 'skill://refunds/SKILL.md', digest: 'sha256:x' }],
      _meta: { 'com.example/k': 1 },
    },
  },
  'com.example/run': { error: { code: 77, message: 'not today', data: { why: 'rain' } } },
};

const plain = {
  'tools/list': { result: { tools: [tool('seen'), tool('other')] } },
  'resources/list': { result: { resources: [{ uri: 'memo://one', name: 'one' }] } },
};

const CAPABILITIES = {
  tools: {},
  resources: {},
  extensions: { [UI]: { frames: true }, [SKILLS]: {}, 'com.example/thing': {} },
  experimental: { 'com.example/lab': { on: true }, 'codex/sandbox-state': {} },
};

describe.each(['legacy', 'modern'] as const)('extensions of a %s server', (era) => {
  let world: RawGateway;
  let able: readonly RawClient[];
  let unable: readonly RawClient[];

  beforeAll(async () => {
    world = await openRawGateway({
      apps: { era, capabilities: CAPABILITIES, answers },
      plain: { era, answers: plain },
    });
    able = await allClients(world, CLIENT);
    unable = await allClients(world);
  });

  afterAll(() => world.close());

  it('SRV-10.10: are declared by the gateway, but for the state of one agent’s sandbox', async () => {
    const modern = await world.client('modern', 'http');
    const { capabilities } = (await modern.request('server/discover')) as { capabilities: Json };
    const { 'io.modelcontextprotocol/tasks': _tasks, ...extensions } = capabilities['extensions'] as Json;
    expect([extensions, capabilities['experimental']]).toEqual([
      { [UI]: { frames: true }, [SKILLS]: {}, 'com.example/thing': {} },
      { 'com.example/lab': { on: true } },
    ]);
    const legacy = await world.client('legacy', 'http');
    const opened = (await legacy.request('initialize', { protocolVersion: '2025-11-25' })) as {
      capabilities: Json;
    };
    expect(opened.capabilities['extensions']).toEqual(extensions);
  });

  it('SRV-10.10: have their methods handed to the server that declares them, in both directions unchanged', async () => {
    for (const client of able) {
      expect([
        client.name,
        await client.request('skills/list', { 'x-page': 2, _meta: { trace: 't' } }),
      ]).toMatchObject([
        client.name,
        { skills: [{ uri: 'skill://refunds/SKILL.md', digest: 'sha256:x' }], _meta: { 'com.example/k': 1 } },
      ]);
      const got = (await seenBy(client, 'apps')).findLast(({ method }) => method === 'skills/list');
      expect(got?.['params']).toMatchObject({ 'x-page': 2, _meta: { trace: 't' } });
      expect([client.name, (await client.answer('com.example/run', {}))['error']]).toEqual([
        client.name,
        { code: 77, message: 'not today', data: { why: 'rain' } },
      ]);
    }
  });

  it('SRV-10.10: names of tools and addresses in their params are the server’s own', async () => {
    for (const client of able) {
      const uri = 'ui://plugboard-server/apps/ui%3A%2F%2Ftime%2Fapp.html';
      await client.answer('com.example/run', { name: 'apps__rich', uri });
      const got = (await seenBy(client, 'apps')).findLast(({ method }) => method === 'com.example/run');
      expect([client.name, got?.['params']]).toMatchObject([
        client.name,
        { name: 'rich', uri: 'ui://time/app.html' },
      ]);
    }
  });

  it('SRV-10.10: a method that no server declares is −32601, and reaches no server', async () => {
    for (const client of able) {
      for (const method of ['widgets/list', 'codex/sandbox-state/update', 'roots/list', 'com.other/run']) {
        const { error } = (await client.answer(method)) as { error: Json };
        expect([client.name, method, error['code']]).toEqual([client.name, method, -32601]);
      }
      for (const server of ['apps', 'plain']) {
        const methods = (await seenBy(client, server)).map(({ method }) => method);
        expect(methods).not.toContain('widgets/list');
        expect(methods).not.toContain('codex/sandbox-state/update');
      }
    }
  });

  it('SRV-10.10: resources that no list contains are read from the server that gave them, byte for byte', async () => {
    for (const client of able) {
      await client.request('skills/list');
      const [skill, page] = [
        await client.request('resources/read', { uri: 'skill://refunds/SKILL.md' }),
        await client.request('resources/read', { uri: 'ui://time/app.html' }),
      ];
      expect([client.name, skill['contents']]).toMatchObject([client.name, [{ text: SKILL }]]);
      expect([client.name, page['contents']]).toMatchObject([client.name, [{ text: PAGE }]]);
    }
    const asked = await seenBy(able[0] as RawClient, 'plain');
    expect(asked.filter(({ method }) => method === 'resources/read')).toEqual([]);
  });

  it('SRV-10.10: tools for user interfaces are listed for clients that show these and for no one else', async () => {
    const namesFor = async (client: RawClient): Promise<readonly string[]> => {
      const { tools } = (await client.request('tools/list')) as { tools: { name: string }[] };
      return tools.map(({ name }) => name).sort();
    };
    for (const client of able) {
      expect([client.name, await namesFor(client)]).toEqual([
        client.name,
        ['apps__both', 'apps__rich', 'apps__seen', 'plain__other', 'plain__seen'],
      ]);
    }
    for (const client of unable) {
      expect([client.name, await namesFor(client)]).toEqual([
        client.name,
        ['apps__both', 'apps__seen', 'plain__other', 'plain__seen'],
      ]);
      const { error } = (await client.answer('tools/call', { name: 'apps__rich' })) as { error: Json };
      expect([client.name, error['code']]).toEqual([client.name, -32602]);
    }
    expect(world.host.tools().map(({ name }) => name)).not.toContain('mcp__apps__rich');
    expect((await world.host.search('rich')).map(({ name }) => name)).not.toContain('mcp__apps__rich');
  });

  it('SRV-10.10: a user interface calls its tool by the server’s own name, unless two servers have it', async () => {
    for (const client of able) {
      for (const name of ['apps__rich', 'rich']) {
        const { content } = await client.request('tools/call', { name });
        expect([client.name, name, content]).toEqual([client.name, name, [{ type: 'text', text: 'rich' }]]);
      }
      const { error } = (await client.answer('tools/call', { name: 'seen' })) as { error: Json };
      expect([client.name, error['code']]).toEqual([client.name, -32602]);
    }
  });
});

it('SRV-10.10: an extension of two servers needs a server’s name; a lone server has every address', async () => {
  const skills = { 'skills/list': { result: { skills: [] } } };
  const capabilities = { tools: {}, extensions: { [SKILLS]: {} } };
  const world = await openRawGateway({
    a: {
      era: 'modern',
      capabilities: { ...capabilities, resources: {} },
      answers: { ...answers, ...skills },
    },
    b: { era: 'legacy', capabilities, answers: skills },
  });
  try {
    for (const client of await allClients(world)) {
      const { error } = (await client.answer('skills/list')) as { error: Json };
      expect([client.name, error['code'], error['data']]).toEqual([
        client.name,
        -32601,
        { servers: ['a', 'b'] },
      ]);
      const named = await client.request('skills/list', { _meta: { 'plugboard/server': 'b' } });
      expect([client.name, named['skills']]).toEqual([client.name, []]);
      // Only one of the servers has resources, and none are listed.
      const read = await client.request('resources/read', { uri: 'skill://refunds/SKILL.md' });
      expect([client.name, read['contents']]).toMatchObject([client.name, [{ text: SKILL }]]);
    }
  } finally {
    await world.close();
  }
});

it('SRV-10.10: the extensions of a client reach modern servers with each of its requests', async () => {
  const world = await openRawGateway({
    near: { era: 'modern', capabilities: CAPABILITIES, answers },
    far: { era: 'modern', over: 'http', capabilities: CAPABILITIES, answers },
  });
  try {
    const declared = async (client: RawClient, server: string): Promise<Json> => {
      await client.request('tools/call', { name: `${server}__both` });
      const calls = (await seenBy(client, server)).filter(
        ({ method, params }) => method === 'tools/call' && (params as Json)['name'] === 'both',
      );
      const { params } = calls.at(-1) as { params: { _meta: Record<string, Json> } };
      return params._meta['io.modelcontextprotocol/clientCapabilities']?.['extensions'] as Json;
    };
    const [able, unable] = [await allClients(world, CLIENT), await allClients(world)];
    for (const server of ['near', 'far']) {
      for (const client of able) {
        expect([client.name, await declared(client, server)]).toMatchObject([client.name, CLIENT.extensions]);
      }
      for (const client of unable) {
        const ids = Object.keys(await declared(client, server));
        expect([client.name, ids.filter((id) => id in CLIENT.extensions)]).toEqual([client.name, []]);
      }
    }
  } finally {
    await world.close();
  }
});
