import { describe, expect, it } from 'vitest';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { createGate } from '../../src/testing/gate.ts';
import { RpcError } from '../../src/testing/scripted-tool.ts';
import { contentServer, count, type Era, hostOver, paramsOf } from './content-host.ts';

const ERAS: readonly Era[] = ['legacy', 'modern'];
const A = { uri: 'file:///a.md', name: 'a', mimeType: 'text/markdown', size: 3 };
const B = { uri: 'file:///b.md', name: 'b' };
const T = { uriTemplate: 'file:///{path}', name: 'any file' };

describe.each(ERAS)('resources of a %s server', (era) => {
  it('CAT-9: are listed with their server, and so are templates', async () => {
    const docs = contentServer({ era, resources: [A, B], templates: [T] });
    const { host } = await hostOver({ docs });
    expect(await host.resources()).toEqual({
      resources: [
        { ...A, server: 'docs' },
        { ...B, server: 'docs' },
      ],
      templates: [{ ...T, server: 'docs' }],
    });
  });

  it('CAT-9: are read as text or as bytes', async () => {
    const blob = Buffer.from([0, 255, 7]).toString('base64');
    const picture = { uri: 'x://p.png', mimeType: 'image/png', blob };
    const { host } = await hostOver({
      docs: contentServer({ era, files: { 'file:///a.md': 'hello', 'x://p.png': [picture] } }),
    });
    expect(await host.read('docs', 'file:///a.md')).toEqual({
      contents: [{ uri: 'file:///a.md', mimeType: 'text/plain', text: 'hello' }],
    });
    expect(await host.read('docs', 'x://p.png')).toEqual({ contents: [picture] });
  });

  // Protocol: 26-base-21
  it('CAT-9: an unknown one is reported with server and address', async () => {
    const { host } = await hostOver({ docs: contentServer({ era }) });
    await expect(host.read('docs', 'file:///no.md')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      server: 'docs',
      message: 'docs has no resource "file:///no.md": No file:///no.md here',
      hint: 'host.resources("docs") lists them.',
    });
  });

  it('F30: pages are followed and a broken member harms no other', async () => {
    const docs = contentServer({ era, capabilities: { resources: {} } });
    docs.on('resources/list', ({ params }) =>
      params['cursor'] === undefined
        ? { resources: [A, { name: 'no address' }, null], nextCursor: 'two' }
        : { resources: [B, A] },
    );
    const { host, complaints } = await hostOver({ docs });
    expect((await host.resources()).resources.map(({ uri }) => uri)).toEqual([A.uri, B.uri]);
    expect(complaints).toEqual([
      'docs: resources: no address is left out: it has no uri',
      'docs: resources: #3 is left out: it is not an object',
      `docs: resources: ${A.uri} is left out: it is listed more than once: the first one counts`,
    ]);
  });

  it('a list is kept until the server announces a change', async () => {
    const docs = contentServer({ era, resources: [A], hints: { ttlMs: 3_600_000 } });
    const { host } = await hostOver({ docs });
    await host.resources();
    await host.resources();
    expect(count(docs, 'resources/list')).toBe(1);
    const changed = new Promise((resolve) => host.on('resources', resolve));
    if (era === 'modern') await docs.seen('subscriptions/listen');
    docs.on('resources/list', () => ({ resources: [B], ttlMs: 3_600_000 }));
    docs.notify('notifications/resources/list_changed');
    expect(await changed).toEqual({ server: 'docs' });
    expect((await host.resources()).resources).toEqual([{ ...B, server: 'docs' }]);
    expect(count(docs, 'resources/list')).toBe(2);
  });
});

describe('lists of resources', () => {
  it('one server that fails hides no other, and is reported', async () => {
    const bad = contentServer();
    bad.on('resources/list', () => {
      throw new RpcError(-32603, 'the database is away');
    });
    const { host, complaints } = await hostOver({ good: contentServer({ resources: [A] }), bad });
    expect((await host.resources()).resources).toEqual([{ ...A, server: 'good' }]);
    expect(complaints).toEqual(['bad: resources/list returned an error: the database is away']);
    await expect(host.resources('bad')).rejects.toMatchObject({ code: 'PROTOCOL_ERROR', server: 'bad' });
  });

  it('a server that does not support templates has none', async () => {
    const docs = contentServer({ resources: [A] });
    docs.on('resources/templates/list', () => {
      throw new RpcError(-32601, 'Method not found');
    });
    const { host, complaints } = await hostOver({ docs });
    expect(await host.resources()).toEqual({ resources: [{ ...A, server: 'docs' }], templates: [] });
    expect(complaints).toEqual([]);
  });

  // Protocol: 25-lifecycle-14b, 25-prompts-9, 26-prompts-12
  it('a server without the capability is not asked', async () => {
    const tools = contentServer({ capabilities: { tools: {} }, resources: [A] });
    const { host } = await hostOver({ tools });
    expect(await host.resources()).toEqual({ resources: [], templates: [] });
    expect(await host.prompts()).toEqual([]);
    expect(
      tools.received.filter((message) => 'method' in message && /list$/.test(message.method)),
    ).toHaveLength(1);
  });

  it('A10: a server that is off is neither started nor asked; an idle one is started when asked', async () => {
    const servers = { off: contentServer({ resources: [A] }), lazy: contentServer({ resources: [B] }) };
    const { host } = await hostOver(servers, {
      servers: { off: { command: 'scripted', enabled: false }, lazy: { command: 'scripted' } },
      connect: 'none',
    });
    expect(servers.lazy.connections).toBe(0);
    expect((await host.resources()).resources).toEqual([{ ...B, server: 'lazy' }]);
    expect(servers.off.received).toEqual([]);
    await expect(host.read('off', A.uri)).rejects.toMatchObject({ code: 'BLOCKED_BY_POLICY', server: 'off' });
  });

  // Protocol: 26-caching-4, 26-caching-5, 26-caching-6, 26-caching-9
  it('ttlMs is honoured, and a list without announcements is requested again after a minute', async () => {
    const clock = fakeClock();
    const brief = contentServer({ era: 'modern', resources: [A], hints: { ttlMs: 5_000 } });
    const silent = contentServer({ capabilities: { resources: {} }, resources: [B] });
    const { host } = await hostOver({ brief, silent }, { clock });
    const asked = async (): Promise<number[]> => {
      await host.resources();
      // A stale list is answered at once, and read again in the background.
      await clock.advance(0);
      return [count(brief, 'resources/list'), count(silent, 'resources/list')];
    };
    expect(await asked()).toEqual([1, 1]);
    await clock.advance(4_999);
    expect(await asked()).toEqual([1, 1]);
    await clock.advance(1);
    expect(await asked()).toEqual([2, 1]);
    await clock.advance(55_000);
    expect(await asked()).toEqual([3, 2]);
  });

  it('many who ask at once share one answer; a server that is silent is given up on by name', async () => {
    const clock = fakeClock();
    const gate = createGate();
    const slow = contentServer({ resources: [A] });
    slow.once('resources/list', async () => {
      await gate.opened;
      return { resources: [A] };
    });
    const { host, complaints } = await hostOver(
      { slow, quick: contentServer({ resources: [B] }) },
      { clock },
    );
    const both = Promise.all([host.resources(), host.resources()]);
    await slow.seen('resources/list');
    await clock.advance(30_000);
    const quick = { resources: [{ ...B, server: 'quick' }], templates: [] };
    expect(await both).toEqual([quick, quick]);
    expect(count(slow, 'resources/list')).toBe(1);
    expect(new Set(complaints)).toEqual(new Set(['slow: slow did not list its resources within 30 s']));
    gate.open();
    expect((await host.resources('slow')).resources).toEqual([{ ...A, server: 'slow' }]);
  });

  it('a server that was lost and came back is asked again', async () => {
    const clock = fakeClock();
    const docs = contentServer({ resources: [A] });
    const { host } = await hostOver({ docs }, { clock });
    await host.resources();
    docs.on('resources/list', () => ({ resources: [B] }));
    docs.crash();
    await clock.armed();
    await clock.advance(1_000);
    await host.connect('docs');
    expect((await host.resources()).resources).toEqual([{ ...B, server: 'docs' }]);
  });

  it('A15: lists and texts are cleaned for models; bytes and addresses stay as they are', async () => {
    const evil = { uri: 'x://a\u200bb', name: 'na\u001b[31mme', description: 'one\u200btwo' };
    const docs = contentServer({
      resources: [evil, { uri: 'x://a\u202eb', name: 'turned around' }],
      files: { [evil.uri]: 'a\u001b]8;;http://x\u0007b\u202ec' },
    });
    const { host } = await hostOver({ docs });
    expect((await host.resources()).resources).toEqual([
      { uri: evil.uri, name: 'name', description: 'onetwo', server: 'docs' },
    ]);
    const [cleaned] = (await host.read('docs', evil.uri)).contents;
    expect(cleaned).toMatchObject({ text: 'abc' });
    const [whole] = (await host.read('docs', evil.uri, { forModel: false })).contents;
    expect(whole).toMatchObject({ text: 'a\u001b]8;;http://x\u0007b\u202ec' });
  });
});

const FORM = { type: 'object', properties: { me: { type: 'boolean' } } };
const ASKS = {
  resultType: 'input_required',
  requestState: 'opaque',
  inputRequests: {
    who: { method: 'elicitation/create', params: { message: 'Who are you?', requestedSchema: FORM } },
  },
};

describe('reading', () => {
  it('an unknown server is reported with the nearest name', async () => {
    const { host } = await hostOver({ docs: contentServer() });
    await expect(host.read('dosc', 'x://y')).rejects.toMatchObject({
      code: 'UNKNOWN_SERVER',
      hint: 'Did you mean "docs"?',
    });
  });

  it('F57: parts without an address, without content, or no parts at all', async () => {
    const docs = contentServer({ files: { 'x://a': [{ text: 'a' }, { uri: 'x://a' }, 7, { blob: '?!' }] } });
    docs.once('resources/read', () => ({ contents: null }));
    const { host } = await hostOver({ docs });
    await expect(host.read('docs', 'x://a')).rejects.toMatchObject({
      code: 'PROTOCOL_ERROR',
      server: 'docs',
    });
    expect(await host.read('docs', 'x://a')).toEqual({
      contents: [
        { uri: 'x://a', text: 'a' },
        { uri: 'x://a', text: '[left out: the server sent data that is not base64]' },
      ],
    });
  });

  it('a server without resources is reported as such', async () => {
    const { host } = await hostOver({
      tools: contentServer({ capabilities: { tools: {} } }).on('resources/read', () => {
        throw new RpcError(-32601, 'Method not found');
      }),
    });
    await expect(host.read('tools', 'x://a')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: 'tools offers no resources',
    });
  });

  it('CAL-3: a modern server may ask something before it answers', async () => {
    const docs = contentServer({ era: 'modern', files: { 'x://secret': 'plain' } });
    docs.once('resources/read', () => ASKS);
    const { host } = await hostOver(
      { docs },
      { elicit: () => ({ action: 'accept', content: { me: true } }) },
    );
    expect((await host.read('docs', 'x://secret')).contents).toMatchObject([{ text: 'plain' }]);
    const [, again] = await docs.seen('resources/read', 2);
    expect(paramsOf(again)).toEqual({
      uri: 'x://secret',
      requestState: 'opaque',
      inputResponses: { who: { action: 'accept', content: { me: true } } },
    });
  });

  it('CAL-3: a question that no one can answer is not mistaken for an unknown resource', async () => {
    const docs = contentServer({ era: 'modern' });
    docs.on('resources/read', () => ASKS);
    const { host } = await hostOver({ docs });
    await expect(host.read('docs', 'x://secret')).rejects.toMatchObject({
      code: 'PROTOCOL_ERROR',
      server: 'docs',
      message: 'This client does not serve elicitation/create',
    });
  });

  it('CAL-4: a silent server is given up on with its name and the address; an abort reaches it', async () => {
    const clock = fakeClock();
    const docs = contentServer();
    docs.on('resources/read', async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    const { host } = await hostOver({ docs }, { clock });
    const late = host.read('docs', 'x://a').catch((error: unknown) => error);
    await docs.seen('resources/read');
    await clock.advance(300_000);
    expect(await late).toMatchObject({
      code: 'TIMEOUT',
      server: 'docs',
      message: 'reading x://a from docs timed out: no response for 300 s',
    });
    const controller = new AbortController();
    const stopped = host
      .read('docs', 'x://b', { signal: controller.signal })
      .catch((error: unknown) => error);
    await docs.seen('resources/read', 2);
    controller.abort();
    expect(await stopped).toMatchObject({ code: 'CANCELLED', server: 'docs' });
    expect(await docs.seen('notifications/cancelled', 2)).toHaveLength(2);
  });
});
