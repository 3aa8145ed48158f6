import { describe, expect, it } from 'vitest';
import { LIST_PAGE_MS, type ListKind, type ListResult, listAll } from '../../src/connection/listing.ts';
import { Peer } from '../../src/connection/peer.ts';
import type { PlugboardError } from '../../src/errors.ts';
import { type FakeClock, fakeClock, NO_ANSWER, RpcError, scriptedServer } from '../../src/testing/index.ts';

type Page = Readonly<Record<string, unknown>>;

/** Lists from a server whose pages are these, by the cursor that asks for them. */
async function list(
  pages: (cursor: unknown) => unknown,
  clock: FakeClock = fakeClock(),
): Promise<ListResult> {
  return listOf('tools', pages, clock);
}

async function listOf(
  kind: ListKind,
  pages: (cursor: unknown) => unknown,
  clock: FakeClock,
): Promise<ListResult> {
  const server = scriptedServer({ eras: 'legacy' });
  server.on('tools/list', ({ params }) => pages(params['cursor']));
  const owner = { request: async () => ({}), notification: () => {}, closed: () => {}, notice: () => {} };
  const peer = new Peer(server.transport(), owner, clock);
  await peer.open();
  return listAll(peer, kind, {});
}

const page = (nextCursor: unknown, ...names: string[]): Page => ({
  tools: names.map((name) => ({ name })),
  nextCursor,
});

describe('listing (CAT-2, F30)', () => {
  // Protocol: 25-pagination-1, 25-pagination-3a, 25-pagination-3b, 25-pagination-4, 25-prompts-8, 26-caching-14,
  // 26-pagination-2, 26-pagination-4a, 26-pagination-4b, 26-pagination-5, 26-prompts-11
  it('reads every page, and takes the age from the first one', async () => {
    const pages: Record<string, Page> = {
      undefined: { ...page('two', 'a'), ttlMs: 5_000, cacheScope: 'private' },
      two: page('three', 'b'),
      three: page(undefined, 'c'),
    };
    expect(await list((cursor) => pages[String(cursor)])).toEqual({
      items: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
      ttlMs: 5_000,
      cacheScope: 'private',
    });
  });

  it.each([
    ['an empty cursor', () => page('', 'a'), undefined, 1],
    ['a null cursor', () => page(null, 'a'), undefined, 1],
    ['a cursor that is a number', () => page(7, 'a'), undefined, 1],
    ['the same cursor for ever', () => page('again', 'a'), 'a cursor that came twice', 2],
    [
      'two cursors in turns',
      (at: unknown) => page(at === 'x' ? 'y' : 'x', 'a'),
      'a cursor that came twice',
      3,
    ],
    ['an oversized cursor', () => page('x'.repeat(70_000), 'a'), 'an oversized cursor', 1],
    ['endless pages', (at: unknown) => page(`${at ?? ''}i`, 'a'), 'more than 200 pages', 200],
    [
      'too many items',
      (at: unknown) => page(`${at ?? ''}i`, ...Array<string>(5_000).fill('a')),
      'more than 20000 items',
      20_000,
    ],
  ])('%s ends', async (_what, pages, cut, items) => {
    const result = await list(pages);
    expect({ cut: result.cut, items: result.items.length }).toEqual({ cut, items });
  });

  it('a later page that fails leaves what came before it', async () => {
    const thenPage = (second: () => unknown) => (at: unknown) => (at === 'two' ? second() : page('two', 'a'));
    const refuse = (): never => {
      throw new RpcError(-32603, 'out of order');
    };
    expect(await list(thenPage(refuse))).toEqual({
      items: [{ name: 'a' }],
      cut: expect.stringMatching(/^an error for page 2: .*out of order$/),
    });
    expect(await list(thenPage(() => ({})))).toEqual({
      items: [{ name: 'a' }],
      cut: 'a page 2 that is not a list',
    });
  });

  it('a capability that is not there after all is an empty list; no list at all is an error', async () => {
    const refuse = (): never => {
      throw new RpcError(-32601, 'Method not found');
    };
    expect(await list(refuse)).toEqual({ items: [] });
    await expect(list(() => ({}))).rejects.toMatchObject({
      code: 'PROTOCOL_ERROR',
      message: 'The answer to tools/list has no list of tools',
    });
  });

  it('a page that never comes is given up', async () => {
    const clock = fakeClock();
    const error = list(() => NO_ANSWER, clock).catch((thrown: PlugboardError) => thrown.message);
    await clock.armed();
    await clock.advance(LIST_PAGE_MS);
    expect(await error).toBe('tools/list timed out: no response for 60 s');
  });
});
