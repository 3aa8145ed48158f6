import { afterEach, describe, expect, it } from 'vitest';
import { type Host, type HostOptions, jsonOf, textOf } from '../../src/index.ts';
import { createTestHost, type ScriptedServer, scriptedServer } from '../../src/testing/index.ts';
import { failureText } from '../world/failure.ts';

const hosts: Host[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

async function world(options: HostOptions = {}): Promise<{ host: Host; server: ScriptedServer }> {
  const server = scriptedServer({
    instructions: 'Count first.',
    tools: {
      count: () => ({ content: [{ type: 'text', text: '{"n":3}' }], structuredContent: { n: 3 } }),
      say: () => 'hello',
    },
  });
  const host = await createTestHost({
    servers: { s: { inProcess: server, approval: 'approve' } },
    log: () => {},
    ...options,
  });
  hosts.push(host);
  await host.ready();
  return { host, server };
}

describe('results', () => {
  it('are read as text and as values, typed by the caller', async () => {
    const { host } = await world();
    const counted = await host.call<{ n: number }>('mcp__s__count');
    expect([textOf(counted), counted.structuredContent?.n, jsonOf<{ n: number }>(counted).n]).toEqual([
      '{"n":3}',
      3,
      3,
    ]);
    const said = await host.call('mcp__s__say');
    expect(Object.keys(said)).toEqual(['content', 'isError', '_meta']);
    expect(() => jsonOf(said)).toThrow('The result is not JSON');
    expect(() => jsonOf({ ...said, isError: true })).toThrow('The tool failed: hello');
  });
});

describe('raw requests', () => {
  it('reach the server, by way of the rules for it', async () => {
    const { host, server } = await world();
    server.on('mine/ask', ({ params }) => ({ answer: params['question'] }));
    expect(await host.request('s', 'mine/ask', { question: 'why' })).toEqual({ answer: 'why' });
    expect(await host.session().request('s', 'mine/ask', { question: 'how' })).toEqual({ answer: 'how' });
    expect(await failureText(host.request('nothing', 'mine/ask'))).toContain('UNKNOWN_SERVER');
  });

  it('do not go around approvals and what else the host does', async () => {
    const { host, server } = await world({ servers: undefined });
    await host.add('s', { inProcess: server, approval: 'prompt' });
    expect(await failureText(host.request('s', 'tools/call', { name: 'say' }))).toEqual([
      'USAGE',
      '"tools/call" is not sent as a raw request',
      'Use call(), which asks for approval.',
    ]);
    for (const method of [
      'tools/list',
      'initialize',
      'notifications/cancelled',
      ' tools/call',
      '',
      'tasks/get',
    ])
      expect(await failureText(host.request('s', method))).toContain('USAGE');
    expect(await failureText(host.session().request('s', 'tools/call', { name: 'say' }))).toContain('USAGE');
  });

  it('notifications are sent in the same way, and those of the protocol are the host’s own', async () => {
    const { host, server } = await world();
    await host.notify('s', 'notifications/mine/seen', { id: 7 });
    await host.session().notify('s', 'mine/done');
    const sent = async (method: string): Promise<unknown> => {
      const [message] = await server.seen(method);
      const { id, params } = message as { id?: unknown; params?: Record<string, unknown> };
      return [id, params?.['id']];
    };
    expect([await sent('notifications/mine/seen'), await sent('mine/done')]).toEqual([
      [undefined, 7],
      [undefined, undefined],
    ]);
    expect(await failureText(host.notify('s', 'notifications/cancelled', { requestId: 1 }))).toEqual([
      'USAGE',
      '"notifications/cancelled" is not sent as a raw notification',
      'Notifications of the protocol are sent by the host.',
    ]);
    for (const method of ['notifications/initialized', 'tools/call', 'initialize', '', ' mine/x'])
      expect(await failureText(host.notify('s', method))).toContain('USAGE');
    expect(await failureText(host.notify('nothing', 'mine/done'))).toContain('UNKNOWN_SERVER');
    const ended = host.session();
    ended.end();
    expect(await failureText(ended.notify('s', 'mine/done'))).toContain('USAGE');
  });

  it('notifications start a server that rests, and keep the rules for it', async () => {
    const server = scriptedServer({ eras: 'legacy' });
    const { host } = await world({
      connect: 'none',
      servers: { s: { inProcess: server }, t: { inProcess: scriptedServer() } },
    });
    const signal = AbortSignal.abort(new Error('enough'));
    expect(await failureText(host.notify('s', 'mine/done', {}, { signal }))).toContain('CANCELLED');
    await host.notify('s', 'mine/done', { a: 1 });
    expect(await server.seen('mine/done')).toEqual([
      { jsonrpc: '2.0', method: 'mine/done', params: { a: 1 } },
    ]);
  });

  it('_meta of a call is an option, without keys of the connection', async () => {
    const { host, server } = await world();
    await host.call(
      'mcp__s__say',
      {},
      { meta: { 'example.com/a': 1, progressToken: 'x', 'plugboard/b': 2 } },
    );
    const [sent] = await server.seen('tools/call');
    const { _meta = {} } = (sent as { params: { _meta?: Record<string, unknown> } }).params;
    expect([_meta['example.com/a'], _meta['plugboard/b'], _meta['progressToken'] === 'x']).toEqual([
      1,
      undefined,
      false,
    ]);
  });
});

describe('a session', () => {
  it('has instructions, searches, and events of its own', async () => {
    const { host } = await world();
    const [one, other] = [host.session(), host.session()];
    const heard: string[] = [];
    one.on('call.end', ({ outcome }) => heard.push(`one ${outcome}`));
    const stop = other.on('call.end', ({ outcome }) => heard.push(`other ${outcome}`));
    await one.call('mcp__s__say');
    stop();
    await other.call('mcp__s__say');
    expect(heard).toEqual(['one ok']);
    expect(one.instructions()).toBe('## s\n\nCount first.');
    expect((await one.search('count')).map(({ tool }) => tool)[0]).toBe('count');
  });
});
