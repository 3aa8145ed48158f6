/** Sessions that may use a part of the host's tools. */

import { expect, it } from 'vitest';
import { toAnthropic } from '../../src/adapters/index.ts';
import type { SessionOptions } from '../../src/call/session.ts';
import type { Host, HostOptions } from '../../src/index.ts';
import { adapterHost } from '../world/adapter-host.ts';

async function twoServers(options: Partial<HostOptions> = {}): Promise<Host> {
  const tools = { get_one: () => '1', get_two: () => '2', put: () => 'put' };
  const entry = { command: 'scripted', approval: 'approve' as const };
  return (await adapterHost({ tools, servers: { s: entry, t: entry }, ...options })).host;
}

const offered = (host: Host, tools: SessionOptions['tools']): string[] =>
  host
    .session({ tools })
    .tools()
    .map(({ name }) => name);

it('a session is given the tools of its servers, those that it includes, and none that it excludes', async () => {
  const host = await twoServers();
  expect(offered(host, { servers: ['t'] })).toEqual(['mcp__t__get_one', 'mcp__t__get_two', 'mcp__t__put']);
  expect(offered(host, { include: ['mcp__s__get_*', 't__put'] })).toEqual([
    'mcp__s__get_one',
    'mcp__s__get_two',
    'mcp__t__put',
  ]);
  expect(offered(host, { servers: ['s'], exclude: ['mcp__s__put', '*two'] })).toEqual(['mcp__s__get_one']);
  expect(offered(host, { servers: [] })).toEqual([]);
  expect(offered(host, {})).toHaveLength(6);
});

it('a call of another tool is refused as unknown, and no hint names it', async () => {
  const host = await twoServers();
  const session = host.session({ tools: { exclude: ['mcp__s__put'] } });
  const refused = await session.call('mcp__s__put').catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'UNKNOWN_TOOL' });
  expect(String((refused as { hint?: string }).hint)).not.toContain('mcp__s__put');
  expect([session.find('mcp__s__put'), session.approvalOf('mcp__s__put')]).toEqual([undefined, undefined]);
  expect(await session.call('mcp__t__put')).toMatchObject({ isError: false });
  expect(await host.call('mcp__s__put')).toMatchObject({ isError: false });
});

it('a search finds nothing else, and a small part is given without a search', async () => {
  const host = await twoServers({ toolSearch: true });
  const adapter = toAnthropic(host.session({ tools: { servers: ['t'] } }));
  const search = {
    type: 'tool_use',
    id: 'c',
    name: 'tool_search',
    input: { query: 'put', limit: 20 },
  } as const;
  const found = JSON.stringify(await adapter.execute(search));
  expect([found.includes('mcp__t__put'), found.includes('mcp__s__')]).toEqual([true, false]);
  expect(adapter.tools[0]?.description).toContain('3 more tools can be found this way');
  const dispatched = { name: 'mcp__s__put', arguments: {} };
  const call = { type: 'tool_use', id: 'c', name: 'call_tool', input: dispatched } as const;
  expect(JSON.stringify(await adapter.execute(call))).toContain('UNKNOWN_TOOL');
  const long = 'x'.repeat(2_000);
  const many = await twoServers({
    toolSearch: 'auto',
    model: { contextTokens: 20_000 },
    tools: { a: { description: long }, b: { description: long }, c: { description: long } },
  } as Partial<HostOptions>);
  expect(many.tools().map(({ name }) => name)).toEqual(['tool_search']);
  expect(offered(many, { include: ['mcp__s__a'] })).toEqual(['mcp__s__a']);
});

it('search() of a session has only its tools, up to the limit', async () => {
  const host = await twoServers({ toolSearch: true });
  const session = host.session({ tools: { servers: ['t'], exclude: ['*two'] } });
  const names = async (limit?: number): Promise<string[]> =>
    (await session.search('get put', limit === undefined ? {} : { limit }))
      .map(({ name }) => name)
      .toSorted();
  expect(await names()).toEqual(['mcp__t__get_one', 'mcp__t__put']);
  expect(await names(1)).toHaveLength(1);
  expect((await host.search('get put')).length).toBeGreaterThan(2);
  expect(session.tools().map(({ name }) => name)).toEqual(['tool_search']);
});

it('a subset that is not made of lists is refused', async () => {
  const host = await twoServers();
  const wrong = { servers: 's' } as unknown as SessionOptions['tools'];
  expect(() => host.session({ tools: wrong })).toThrow('"tools" must be an object with lists of names');
});
