import { describe, expect, it } from 'vitest';
import { scriptedServer } from '../../src/testing/index.ts';
import { text } from '../world/content.ts';
import { failure } from '../world/failure.ts';
import { scriptedHost } from '../world/scripted-host.ts';

describe('a session owns what outlives one call', () => {
  it('loaded tools: what one has found the other does not see', async () => {
    const server = scriptedServer({ tools: { read_page: () => 'page', write_page: () => 'ok' } });
    const world = await scriptedHost({ server, toolSearch: true });
    const session = world.host.session({ approve: () => 'allow' });
    await session.call('tool_search', { query: 'select:mcp__s__read_page' });
    expect(session.tools().map(({ name }) => name)).toEqual(['tool_search', 'mcp__s__read_page']);
    expect(world.host.tools().map(({ name }) => name)).toEqual(['tool_search']);
    await session.call('tool_search', { query: 'select:mcp__s__write_page' });
    expect(session.tools().map(({ name }) => name)).toEqual([
      'tool_search',
      'mcp__s__read_page',
      'mcp__s__write_page',
    ]);
    await world.host.close();
  });

  it('loaded tools are remembered by identity: a collision renames a found tool and does not lose it', async () => {
    const server = scriptedServer({ tools: { read_page: () => 'page' } });
    const world = await scriptedHost({ server, toolSearch: true });
    const session = world.host.session({ gateway: true });
    await session.call('tool_search', { query: 'select:s__read_page' });
    const before = session.tools().map(({ name }) => name);
    const renamed = new Promise<void>((resolve) => {
      world.host.on('tools', () => resolve());
    });
    server.tool('read.page', () => 'other');
    await server.notify('notifications/tools/list_changed');
    await world.clock.armed();
    await world.clock.advance(1_000);
    await renamed;
    expect([before, session.tools().map(({ name }) => name)]).toEqual([
      ['tool_search', 's__read_page'],
      ['tool_search', expect.stringMatching(/^s__read_page_[0-9a-f]{8}$/)],
    ]);
    await world.host.close();
  });

  it('approvals: each asks its own, and is allowed its own', async () => {
    const world = await scriptedHost({ approve: () => 'deny' });
    const asked: string[] = [];
    const one = world.host.session({
      approve: ({ session }) => {
        asked.push(session);
        return 'allow-session';
      },
    });
    const two = world.host.session({ approvals: 'client' });
    const three = world.host.session();
    await one.call('mcp__s__echo');
    await one.call('mcp__s__echo');
    expect(asked).toEqual([one.id]);
    await two.call('mcp__s__echo');
    expect((await failure(three.call('mcp__s__echo'))).code).toBe('APPROVAL_REQUIRED');
    expect((await failure(world.host.call('mcp__s__echo'))).code).toBe('DENIED');
    expect(world.events('call.begin').map(({ id, session }) => [id, session])).toEqual([
      ['c1', 's1'],
      ['c2', 's1'],
      ['c3', 's2'],
      ['c4', 's3'],
      ['c5', 'host'],
    ]);
    await world.host.close();
  });

  it('roots: a server receives those of its caller; `sessions` declares that there will be some', async () => {
    const server = scriptedServer({
      eras: 'legacy',
      tools: { where: async (_args, { request }) => JSON.stringify(await request('roots/list')) },
    });
    const world = await scriptedHost({ server, sessions: { roots: [] } });
    const rooted = (uri: string) => world.host.session({ approve: () => 'allow', roots: [{ uri }] });
    const [one, two] = [rooted('file:///one'), rooted('file:///two')];
    expect((await one.call('mcp__s__where')).content).toEqual([text('{"roots":[{"uri":"file:///one"}]}')]);
    expect((await two.call('mcp__s__where')).content).toEqual([text('{"roots":[{"uri":"file:///two"}]}')]);
    // The host itself has none.
    expect((await failure(world.host.call('mcp__s__where'))).detail.rpcCode).toBe(-32601);
    const [opening] = await server.seen('initialize');
    expect(opening).toMatchObject({ params: { capabilities: { roots: {} } } });
    await world.host.close();
  });

  it('a session that is not for a model gets results as they came', async () => {
    const server = scriptedServer({ tools: { get: () => `\u202e${'a'.repeat(200_000)}` } });
    const world = await scriptedHost({ server });
    const raw = world.host.session({ approve: () => 'allow', forModel: false });
    expect((await raw.call('mcp__s__get')).content).toEqual([text(`\u202e${'a'.repeat(200_000)}`)]);
    expect((await world.host.call('mcp__s__get')).truncated?.tokens).toBe(50_000);
    await world.host.close();
  });
});
