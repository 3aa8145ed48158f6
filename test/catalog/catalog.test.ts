import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Catalog, readListing } from '../../src/catalog/catalog.ts';

const tool = (name: string, more: object = {}): object => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: 'object' },
  ...more,
});

const listing = (...tools: unknown[]): ReturnType<typeof readListing> =>
  readListing(tools, { paramHeaders: false });

describe('catalog', () => {
  // Protocol: 26-tools-7
  it('CAT-6: the same servers give the same order, however and whenever they came', () => {
    const servers = [
      ['b', listing(tool('z'), tool('a'))],
      ['a', listing(tool('m'))],
      ['c', listing(tool('q'), tool('Q'))],
    ] as const;
    const expected = ['mcp__a__m', 'mcp__b__a', 'mcp__b__z', 'mcp__c__Q', 'mcp__c__q'];
    fc.assert(
      fc.property(fc.shuffledSubarray([...servers], { minLength: servers.length }), (order) => {
        const catalog = new Catalog('mcp__');
        for (const [server, list] of order) catalog.set(server, {}, list);
        expect(catalog.snapshot.tools.map(({ name }) => name)).toEqual(expected);
      }),
    );
  });

  it('keeps one snapshot until something changes, and gives the next one a new version', () => {
    const catalog = new Catalog('mcp__');
    catalog.set('a', {}, listing(tool('x')));
    const first = catalog.snapshot;
    expect(catalog.snapshot).toBe(first);
    catalog.set('b', {}, listing(tool('y')));
    expect(catalog.snapshot.version).toBeGreaterThan(first.version);
    expect(first.tools).toHaveLength(1);
    catalog.delete('a');
    expect(catalog.snapshot.tools.map(({ name }) => name)).toEqual(['mcp__b__y']);
    const { version } = catalog.snapshot;
    catalog.delete('a');
    expect(catalog.snapshot.version).toBe(version);
  });

  it('CFG-2: enabledTools and disabledTools are globs over the names of the server, deny wins', () => {
    const catalog = new Catalog('mcp__');
    const list = listing(tool('read_file'), tool('read_dir'), tool('delete_file'), tool('a.b/c'));
    catalog.set(
      's',
      { enabledTools: ['read_*', 'delete_*', 'a.b/c'], disabledTools: ['*_dir', 'delete_*'] },
      list,
    );
    expect(catalog.snapshot.tools.map((each) => each.tool)).toEqual(['a.b/c', 'read_file']);
  });

  it('hiding a tool renames no other', () => {
    const both = new Catalog('mcp__');
    both.set('s', {}, listing(tool('a b'), tool('a.b')));
    const names = both.snapshot.tools.map(({ name }) => name);
    const one = new Catalog('mcp__');
    one.set('s', { disabledTools: ['a.b'] }, listing(tool('a b'), tool('a.b')));
    expect(one.snapshot.tools).toHaveLength(1);
    expect(names).toContain(one.snapshot.tools[0]?.name);
  });

  it('A23: a tool of one server never takes the name of another, or of the host', () => {
    const catalog = new Catalog('short', ['tool_search']);
    catalog.set('tool', {}, listing(tool('search')));
    catalog.set('a', {}, listing(tool('b_c')));
    catalog.set('a_b', {}, listing(tool('c')));
    const { tools, find } = catalog.snapshot;
    expect(new Set(tools.map(({ name }) => name)).size).toBe(3);
    expect(find('tool_search')).toBeUndefined();
    for (const each of tools) expect(find(each.name)).toBe(each);
  });

  it('CAT-1: a tool is found in every spelling of its name, and by no spelling of another', () => {
    const part = fc.oneof(
      fc.constantFrom(
        'a',
        'b',
        'a__b',
        'b__c',
        'c',
        'mcp',
        'mcp__a',
        '_a',
        '_mcp',
        '1',
        'a.b',
        'a_b',
        '读取',
      ),
      fc.string({ unit: fc.constantFrom('a', '.', '_', '-'), minLength: 1, maxLength: 60 }),
    );
    const servers = fc.dictionary(part, fc.uniqueArray(part, { minLength: 1, maxLength: 6 }), { maxKeys: 6 });
    fc.assert(
      fc.property(servers, (offered) => {
        const catalog = new Catalog('mcp__', ['tool_search', 'call_tool']);
        for (const [server, names] of Object.entries(offered))
          catalog.set(server, {}, listing(...names.map((name) => tool(name))));
        const { tools, find, nameOf } = catalog.snapshot;
        const spellings = new Set<string>();
        for (const each of tools) {
          for (const form of ['mcp__', 'gateway'] as const) {
            const name = nameOf(each, form) ?? '';
            expect(find(name)).toBe(each);
            spellings.add(name);
          }
        }
        expect(spellings.size).toBe(tools.length * 2);
      }),
      { numRuns: 300 },
    );
  });

  it('CAT-1: with short names, the long spelling and that of the gateway are found too', () => {
    const catalog = new Catalog('short');
    catalog.set('a', {}, listing(tool('b')));
    const { tools, find } = catalog.snapshot;
    expect(['a_b', 'mcp__a__b', 'a__b', 'a___b'].map(find)).toEqual([
      tools[0],
      tools[0],
      tools[0],
      undefined,
    ]);
  });

  it('POL-3: a held tool is known in every spelling', () => {
    const catalog = new Catalog('mcp__');
    const list = listing(tool('b'));
    catalog.set('a', {}, { ...list, tools: [], held: list.tools });
    const { find, findHeld } = catalog.snapshot;
    const held = { server: 'a', tool: 'b' };
    expect(['mcp__a__b', 'a__b', 'b'].map((name) => [find(name), findHeld(name)])).toEqual([
      [undefined, held],
      [undefined, held],
      [undefined, undefined],
    ]);
  });

  it('F56: one unusable tool of fifty is reported and affects no other', () => {
    const tools = Array.from({ length: 49 }, (_, at) => tool(`t${at}`));
    const list = listing(...tools.slice(0, 20), tool('bad', { inputSchema: 7 }), ...tools.slice(20));
    expect(list.tools).toHaveLength(49);
    expect(list.quarantined).toEqual([{ tool: 'bad', reason: 'its inputSchema is a number, not an object' }]);
  });

  it('POL-4: text for people and models is cleaned; names that are sent to the server are exact', () => {
    const catalog = new Catalog('mcp__');
    catalog.set(
      's',
      {},
      listing(tool('na\u200bme', { title: 'a\u202eb', description: 'x\x1b[31my\u{e0041}' })),
    );
    const [seen] = catalog.snapshot.tools;
    expect(seen).toMatchObject({ tool: 'na\u200bme', title: 'ab', description: 'xy' });
    expect(seen?.name).toMatch(/^mcp__s__[A-Za-z0-9_-]+$/);
  });

  it('F31: five thousand tools are taken, named and found again', () => {
    const many = Array.from({ length: 5_000 }, (_, at) =>
      tool(`tool_${at}`, { inputSchema: { type: 'object', properties: { a: { type: 'string' } } } }),
    );
    const catalog = new Catalog('mcp__');
    catalog.set('big', {}, listing(...many));
    const { tools, find } = catalog.snapshot;
    expect(tools).toHaveLength(5_000);
    expect(find('mcp__big__tool_4999')?.tool).toBe('tool_4999');
  });
});
