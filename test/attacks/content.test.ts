/** Resources and prompts of several servers behind one gateway: whose they are, and which rules hold for them (A33). */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost, type Host } from '../../src/host/host.ts';
import { type ScriptedServer, scriptedServer } from '../../src/testing/index.ts';
import { LineClient, MODERN } from '../serve/line-client.ts';

type Message = Record<string, unknown>;

let home: string;
const opened: (() => unknown)[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'plugboard-attack-'));
  opened.push(() => rmSync(home, { recursive: true, force: true }));
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const CAPABILITIES = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} };
const SECRET = 'ticket://acme/42?sig=SECRET-CAPABILITY';
const WEB = 'https://tickets.example/42?sig=SECRET-CAPABILITY';
const VERSIONS = ['2025-11-25', MODERN] as const;
const bound = (server: string, uri: string): string =>
  `plugboard://server/${server}/${encodeURIComponent(uri)}`;

interface Offer {
  readonly lists?: readonly string[];
  readonly templates?: readonly string[];
  readonly links?: readonly string[];
}

/** A server, and every address that it was asked for. */
class Member {
  readonly asked: string[] = [];
  readonly server: ScriptedServer;

  constructor(name: string, { lists = [], templates = [], links = [] }: Offer) {
    this.server = scriptedServer({
      eras: 'legacy',
      capabilities: CAPABILITIES,
      tools: {
        find: () => ({ content: links.map((uri) => ({ type: 'resource_link', uri, name: 'ticket' })) }),
      },
    });
    this.server.on('resources/list', () => ({ resources: lists.map((uri) => ({ uri, name: uri })) }));
    this.server.on('resources/templates/list', () => ({
      resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
    }));
    this.server.on('prompts/list', () => ({ prompts: [{ name: 'greet' }] }));
    const answer = (uri: string, result: object): object => {
      this.asked.push(uri);
      return result;
    };
    this.server.on('resources/read', ({ params }) => {
      const uri = String(params['uri']);
      return answer(uri, { contents: [{ uri, text: `from ${name}` }] });
    });
    this.server.on('resources/subscribe', ({ params }) => answer(String(params['uri']), {}));
    this.server.on('prompts/get', () =>
      answer('greet', { messages: [{ role: 'user', content: { type: 'text', text: `from ${name}` } }] }),
    );
    this.server.on('completion/complete', () => answer('complete', { completion: { values: [name] } }));
  }
}

async function open(
  offers: Readonly<Record<string, Offer>>,
  permissions: object = {},
): Promise<{ host: Host; members: Record<string, Member> }> {
  const members = Object.fromEntries(
    Object.entries(offers).map(([name, offer]) => [name, new Member(name, offer)]),
  );
  writeFileSync(join(home, 'config.json'), JSON.stringify({ permissions }));
  const host = await createHost({
    home,
    cwd: home,
    env: {},
    watch: false,
    servers: Object.fromEntries(
      Object.keys(offers).map((name) => [name, { command: name, lifecycle: 'eager' as const }]),
    ),
    replaceTransport: (name) => members[name]?.server.transport(),
  });
  opened.push(() => host.close());
  await host.ready();
  return { host, members };
}

async function connect(host: Host, version: string, answer?: unknown): Promise<LineClient> {
  const client = new LineClient(host, version, { elicitation: {} }, () => answer ?? { action: 'decline' });
  await client.open();
  opened.push(() => client.leave());
  return client;
}

const read = (client: LineClient, uri: unknown): Promise<Message> =>
  client.request('resources/read', { uri });

async function listed(client: LineClient): Promise<{ uris: string[]; templates: string[] }> {
  const { resources } = (await client.request('resources/list')) as { resources: { uri: string }[] };
  const { resourceTemplates } = (await client.request('resources/templates/list')) as {
    resourceTemplates: { uriTemplate: string }[];
  };
  return {
    uris: resources.map(({ uri }) => uri),
    templates: resourceTemplates.map(({ uriTemplate }) => uriTemplate),
  };
}

const NOT_FOUND = expect.objectContaining({ message: expect.stringContaining('There is no resource') });

describe('A33: an address that one server gave', () => {
  const offers = {
    another: {
      lists: ['another://own'],
      links: [bound('tickets', 'ticket://shared'), 'plugboard://output/x'],
    },
    tickets: { links: [SECRET, WEB] },
  };

  it('reaches every server, and the first answers, where all of them are asked', async () => {
    const { host, members } = await open(offers);
    await Promise.any(['another', 'tickets'].map((server) => host.read(server, SECRET)));
    expect(members['another']?.asked).toEqual([SECRET]);
  });

  // Protocol: 25-completion-5d, 25-resources-5, 25-resources-7, 26-completion-6d, 26-resources-8, 26-resources-13
  it.each(VERSIONS)('goes back to that server alone (client of %s)', async (version) => {
    const { host, members } = await open(offers);
    const client = await connect(host, version);
    const { content } = (await client.request('tools/call', { name: 'tickets__find', arguments: {} })) as {
      content: { uri: string }[];
    };
    expect(content.map(({ uri }) => uri)).toEqual([bound('tickets', SECRET), WEB]);
    for (const { uri } of content)
      expect(await read(client, uri)).toMatchObject({ contents: [{ uri, text: 'from tickets' }] });
    // As a model might write it down: no server is asked for an address that it did not give.
    await expect(read(client, SECRET)).rejects.toEqual(NOT_FOUND);
    expect([members['another']?.asked, members['tickets']?.asked]).toEqual([[], [SECRET, WEB]]);
  });

  it('cannot be made to look like one of another server, or one of Plugboard', async () => {
    const { host } = await open(offers);
    const client = await connect(host, MODERN);
    const { content } = (await client.request('tools/call', { name: 'another__find', arguments: {} })) as {
      content: { uri: string }[];
    };
    const uris = content.map(({ uri }) => uri);
    expect(uris).toEqual([
      bound('another', bound('tickets', 'ticket://shared')),
      bound('another', 'plugboard://output/x'),
    ]);
    for (const uri of uris)
      expect(await read(client, uri)).toMatchObject({ contents: [{ uri, text: 'from another' }] });
  });
});

describe('A33: an address that two servers list', () => {
  const offers = {
    another: { lists: ['ticket://shared', bound('tickets', 'x')] },
    tickets: { lists: ['ticket://shared', 'ticket://own'] },
  };

  it.each(VERSIONS)('is kept by neither (client of %s)', async (version) => {
    const { host, members } = await open(offers);
    const client = await connect(host, version);
    const { uris } = await listed(client);
    expect(uris).toEqual([
      bound('another', 'ticket://shared'),
      bound('another', bound('tickets', 'x')),
      bound('tickets', 'ticket://shared'),
      'ticket://own',
    ]);
    await expect(read(client, 'ticket://shared')).rejects.toMatchObject({
      data: { addresses: [bound('another', 'ticket://shared'), bound('tickets', 'ticket://shared')] },
    });
    expect(members['another']?.asked).toEqual([]);
    const uri = bound('tickets', 'ticket://shared');
    expect(await read(client, uri)).toMatchObject({ contents: [{ uri, text: 'from tickets' }] });
  });

  it('changes are announced under the address that the client uses', async () => {
    const { host, members } = await open(offers);
    const client = await connect(host, '2025-11-25');
    const uri = bound('tickets', 'ticket://shared');
    await client.request('resources/subscribe', { uri });
    const told = (changed: string): void =>
      members['tickets']?.server.notify('notifications/resources/updated', { uri: changed });
    told('ticket://shared');
    told('ticket://shared/part');
    const updates = (): unknown[] =>
      client.notifications
        .filter(({ method }) => method === 'notifications/resources/updated')
        .map(({ params }) => (params as { uri: string }).uri);
    await expect.poll(updates).toEqual([uri, bound('tickets', 'ticket://shared/part')]);
  });
});

describe('A33: templates', () => {
  it('one takes no address that another server lists, links to, or has a template for', async () => {
    const { host, members } = await open({
      another: {
        templates: ['ticket://{+all}', '{+everything}', 'https://tickets.example/{+x}', 'mine://{id}'],
      },
      tickets: { lists: ['ticket://shared'], templates: ['ticket://acme/{id}', 'doc://{id}'], links: [WEB] },
    });
    const client = await connect(host, MODERN);
    await client.request('tools/call', { name: 'tickets__find', arguments: {} });
    expect((await listed(client)).templates).toEqual([
      'plugboard://template/another/ticket://{+all}',
      'plugboard://template/another/{+everything}',
      'plugboard://template/another/https://tickets.example/{+x}',
      'mine://{id}',
      'plugboard://template/tickets/ticket://acme/{id}',
      'doc://{id}',
    ]);
    for (const uri of [SECRET, 'ticket://other/1', 'https://tickets.example/43', 'other://x'])
      await expect(read(client, uri)).rejects.toEqual(NOT_FOUND);
    expect(members['another']?.asked).toEqual([]);
    for (const [uri, text] of [
      ['ticket://shared', 'from tickets'],
      ['doc://a%20b', 'from tickets'],
      ['plugboard://template/tickets/ticket://acme/a%2Fb', 'from tickets'],
      ['mine://1', 'from another'],
    ] as const)
      expect(await read(client, uri)).toMatchObject({ contents: [{ uri, text }] });
    expect(members['tickets']?.asked).toEqual(['ticket://shared', 'doc://a%20b', 'ticket://acme/a%2Fb']);
    const complete = (uri: string): Promise<Message> =>
      client.request('completion/complete', {
        ref: { type: 'ref/resource', uri },
        argument: { name: 'id', value: '' },
      });
    expect(await complete('plugboard://template/tickets/ticket://acme/{id}')).toMatchObject({
      completion: { values: ['tickets'] },
    });
    await expect(complete('ticket://unknown/{id}')).rejects.toMatchObject({ code: -32602 });
  });
});

describe('A33: templates that overlap', () => {
  const good = 'g://t/{x}';
  it.each(['g://t/{a}/end', 'g://{a}/end', 'g://{a}{b}{c}!', '{+a}zz', 'g://t{+a}/x/{b}/end'])(
    'an address that fits %j not at all is read from the server whose template fits',
    async (other) => {
      const { host, members } = await open({ wild: { templates: [other] }, good: { templates: [good] } });
      const client = await connect(host, MODERN);
      expect(await read(client, 'g://t/hello')).toMatchObject({ contents: [{ text: 'from good' }] });
      expect(members['wild']?.asked).toEqual([]);
    },
  );

  it.each(['g://{+p}', 'g://t/{y}', 'g://t/h{y}', 'g://{a}/{b}', 'g://{a}/hel{+b}'])(
    'an address that fits %j too is refused, with both addresses',
    async (other) => {
      const { host, members } = await open({ wild: { templates: [other] }, good: { templates: [good] } });
      const client = await connect(host, MODERN);
      await expect(read(client, 'g://t/hello')).rejects.toMatchObject({
        message: expect.stringContaining('There is no resource'),
        data: { addresses: [bound('good', 'g://t/hello'), bound('wild', 'g://t/hello')] },
      });
      expect([members['wild']?.asked, members['good']?.asked]).toEqual([[], []]);
    },
  );

  it('one that fits what another server lists takes no other address; one that only begins alike does', async () => {
    const { host, members } = await open({
      wild: { templates: ['g://{+p}'] },
      good: { templates: ['g://t/{x}/end'], lists: ['g://t/listed'] },
    });
    const client = await connect(host, MODERN);
    await expect(read(client, 'g://else')).rejects.toEqual(NOT_FOUND);
    await expect(read(client, 'g://t/a/end')).rejects.toEqual(NOT_FOUND);
    expect(members['wild']?.asked).toEqual([]);
    expect(await read(client, 'g://t/listed')).toMatchObject({ contents: [{ text: 'from good' }] });
    const logs = await open({
      files: { templates: ['f:///{+path}'] },
      logs: { templates: ['f:///logs/{name}'] },
    });
    const reader = await connect(logs.host, MODERN);
    expect(await read(reader, 'f:///src/a.ts')).toMatchObject({ contents: [{ text: 'from files' }] });
    await expect(read(reader, 'f:///logs/a')).rejects.toEqual(NOT_FOUND);
  });

  it('a template that no other is near to takes every address that begins like it', async () => {
    const { host } = await open({ one: { templates: ['f:///{path}'] }, other: { templates: ['g://{x}'] } });
    const client = await connect(host, MODERN);
    expect(await read(client, 'f:///a/b/c')).toMatchObject({ contents: [{ text: 'from one' }] });
  });
});

describe('A33: rules for a whole server', () => {
  const offers = {
    another: { lists: ['another://own'], templates: ['another://{x}'] },
    docs: { lists: ['doc://a'] },
  };

  it.each(['mcp__another__*', 'another__*', 'mcp__another', 'another', 'an*'])(
    'deny %j holds for resources, prompts and completions, on every surface',
    async (rule) => {
      const { host, members } = await open(offers, { deny: [rule] });
      const client = await connect(host, MODERN);
      await expect(host.call('mcp__another__find')).rejects.toMatchObject({ code: 'DENIED' });
      expect(await listed(client)).toEqual({ uris: ['doc://a'], templates: [] });
      expect(await client.request('prompts/list')).toMatchObject({ prompts: [{ name: 'docs__greet' }] });
      const denied = { data: { code: 'DENIED' } };
      await expect(read(client, bound('another', 'another://own'))).rejects.toMatchObject(denied);
      await expect(client.request('prompts/get', { name: 'another__greet' })).rejects.toMatchObject({
        code: -32602,
      });
      const tries = [
        () => host.read('another', 'another://own'),
        () => host.resources('another'),
        () => host.prompts('another'),
        () => host.prompt('another', 'greet'),
        () => host.subscribe('another', 'another://own', () => {}),
        () =>
          host.complete({ server: 'another', type: 'ref/prompt', name: 'greet' }, { name: 'x', value: '' }),
        () => host.session().read('another', 'another://own'),
        () => host.session().prompt('another', 'greet'),
      ];
      for (const attempt of tries) await expect(attempt()).rejects.toMatchObject({ code: 'DENIED' });
      const { unknown } = await host.expand('see @another:another://own and @docs:doc://a');
      expect(unknown).toEqual(['@another:another://own']);
      expect((await host.expand('/mcp__another__greet')).unknown).toEqual(['/mcp__another__greet']);
      expect([members['another']?.asked, members['docs']?.asked]).toEqual([[], ['doc://a']]);
    },
  );

  it.each(['mcp__another__find', 'another__f*', 'mcp__*__find', '?'])(
    'deny %j is about tools, and leaves resources as they are',
    async (rule) => {
      const { host } = await open(offers, { deny: [rule] });
      expect(await host.read('another', 'another://own')).toMatchObject({
        contents: [{ text: 'from another' }],
      });
    },
  );

  // Protocol: 25-completion-5c, 25-resources-8, 25-resources-10, 26-caching-19, 26-completion-6c, 26-resources-14,
  // 26-resources-16
  it.each(VERSIONS)('ask is put to the person, once or for the session (client of %s)', async (version) => {
    const { host, members } = await open(offers, { ask: ['mcp__another__*'] });
    const no = await connect(host, version);
    await expect(read(no, 'another://own')).rejects.toMatchObject({ data: { code: 'DENIED' } });
    await expect(no.request('prompts/get', { name: 'another__greet' })).rejects.toMatchObject({
      data: { code: 'DENIED' },
    });
    expect(members['another']?.asked).toEqual([]);
    const yes = await connect(host, version, {
      action: 'accept',
      content: { answer: 'Allow for this session' },
    });
    expect(await read(yes, 'another://own')).toMatchObject({ contents: [{ text: 'from another' }] });
    expect(await yes.request('prompts/get', { name: 'another__greet' })).toMatchObject({
      messages: [{ content: { text: 'from another' } }],
    });
    await expect(host.read('another', 'another://own')).rejects.toMatchObject({ code: 'APPROVAL_REQUIRED' });
  });
});
