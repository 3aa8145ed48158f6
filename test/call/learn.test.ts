import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSearchUsage } from '../../src/catalog/search-usage.ts';
import { type Home, homeAt } from '../../src/config/home.ts';
import { scriptedServer } from '../../src/testing/index.ts';
import { failure } from '../world/failure.ts';
import { type ScriptedHost, scratch, scriptedHost } from '../world/scripted-host.ts';

const tools = {
  create_issue: { description: 'Opens a ticket in the tracker.', run: () => 'created' },
  open_door: { description: 'Opens a door.', run: () => 'open' },
  broken: {
    description: 'Repairs a fence.',
    run: () => {
      throw new Error('no');
    },
  },
};

const searching = (dir?: string, more = {}): Promise<ScriptedHost> =>
  scriptedHost({
    server: scriptedServer({ eras: 'legacy', tools }),
    toolSearch: true,
    ...(dir === undefined ? {} : { dir }),
    ...more,
  });

async function learnt(home: string): Promise<unknown> {
  const counts = await openSearchUsage(homeAt(home)).counts();
  return Object.fromEntries([...counts].map(([term, used]) => [term, Object.fromEntries(used)]));
}

describe('CAT-8: search learns from what was called after it', () => {
  it('a tool that a search found and that worked is remembered by the words of the search, once', async () => {
    const world = await searching();
    await world.host.call('tool_search', { query: 'ticket tracker', limit: 1 });
    await world.host.call('mcp__s__create_issue');
    await world.host.call('mcp__s__create_issue');
    await world.host.close();
    expect(await learnt(world.home)).toEqual({
      ticket: { mcp__s__create_issue: 1 },
      tracker: { mcp__s__create_issue: 1 },
    });
  });

  it('a tool that is called by another spelling of its name is remembered as the same tool', async () => {
    const world = await searching();
    const session = world.host.session({ gateway: true, approve: () => 'allow' });
    await session.call('tool_search', { query: 'ticket', limit: 1 });
    await session.call('s__create_issue');
    await session.call('mcp__s__create_issue');
    await world.host.close();
    expect(await learnt(world.home)).toEqual({ ticket: { mcp__s__create_issue: 1 } });
  });

  it('calls that failed, were refused or did not follow a search teach nothing', async () => {
    const world = await searching(undefined, {
      approve: ({ tool }: { tool: string }) => (tool === 'open_door' ? 'deny' : 'allow'),
    });
    await world.host.call('tool_search', { query: 'fence', limit: 1 });
    await world.host.call('mcp__s__broken');
    await world.host.call('tool_search', { query: 'door', limit: 1 });
    await failure(world.host.call('mcp__s__open_door'));
    await world.host.call('mcp__s__create_issue');
    await world.host.close();
    expect(await learnt(world.home)).toEqual({});
  });

  it('tools that one session found do not affect another', async () => {
    const world = await searching();
    const session = world.host.session({ approve: () => 'allow' });
    await world.host.call('tool_search', { query: 'ticket', limit: 1 });
    await session.call('mcp__s__create_issue');
    await world.host.close();
    expect(await learnt(world.home)).toEqual({});
  });

  it('the next host ranks by it', async () => {
    const dir = scratch();
    const first = await searching(dir);
    for (let times = 0; times < 5; times += 1) {
      await first.host.call('tool_search', { query: 'opens', limit: 2 });
      await first.host.call('mcp__s__open_door');
    }
    await first.host.close();
    const next = await searching(dir);
    const [best] = await next.host.search('opens');
    expect(best?.tool).toBe('open_door');
    await next.host.close();
  });

  it('`searchLearning: false` keeps nothing', async () => {
    const dir = scratch();
    const before = await searching(dir);
    await before.host.close();
    writeFileSync(join(dir, 'home', 'config.json'), JSON.stringify({ searchLearning: false }));
    const world = await searching(dir);
    await world.host.call('tool_search', { query: 'ticket', limit: 1 });
    await world.host.call('mcp__s__create_issue');
    await world.host.close();
    expect(existsSync(join(world.home, 'cache', 'searches.json'))).toBe(false);
  });
});

/** A home as a host leaves it behind: its cache is there. */
function kept(): Home {
  const home = homeAt(scratch());
  mkdirSync(home.cache);
  return home;
}

describe('habits on disk', () => {
  it('two processes add to the same file, and the order of use is kept', async () => {
    const home = kept();
    const [one, two] = [openSearchUsage(home), openSearchUsage(home)];
    await Promise.all([one.counts(), two.counts()]);
    one.learn('alpha', 'a');
    await one.flush();
    two.learn('beta', 'b');
    await two.flush();
    one.learn('alpha', 'a');
    await one.flush();
    expect(JSON.parse(readFileSync(join(home.cache, 'searches.json'), 'utf8'))).toEqual([
      ['beta', { b: 1 }],
      ['alpha', { a: 2 }],
    ]);
  });

  it.each(['', '{', '{}', '[1]', '[["x"]]', '[["x",{"t":"many"}]]'])(
    'a file that contains %j is ignored',
    async (text) => {
      const home = kept();
      const searchUsage = openSearchUsage(home);
      searchUsage.learn('x', 't');
      await searchUsage.flush();
      writeFileSync(join(home.cache, 'searches.json'), text);
      const counts = await openSearchUsage(home).counts();
      expect([...counts.values()].every((used) => used.size === 0)).toBe(true);
    },
  );

  it('a home that cannot be written learns nothing, and calls go on', async () => {
    const dir = scratch();
    writeFileSync(join(dir, 'cache'), 'in the way');
    const searchUsage = openSearchUsage(homeAt(dir));
    searchUsage.learn('x', 't');
    await searchUsage.flush();
    expect((await searchUsage.counts()).get('x')).toEqual(new Map([['t', 1]]));
  });
});
