import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lexicalModel, loadModel } from '../../../src/catalog/search/search-model.ts';
import { buildIndex } from '../../../src/catalog/search/tool-index.ts';
import type { Tool } from '../../../src/catalog/tool.ts';
import { GUARD_TOOLS } from './guard-set.ts';

function tool(
  server: string,
  name: string,
  description = '',
  inputSchema: Record<string, unknown> = {},
): Tool {
  return { name: `mcp__${server}__${name}`, server, tool: name, description, inputSchema };
}

const names = (hits: readonly { readonly tool: Tool }[]): string[] => hits.map((hit) => hit.tool.name);

describe('CAT-7: searching an index of tools', () => {
  const index = buildIndex(GUARD_TOOLS);

  it('select: gives exactly the tools named, in the order named', () => {
    expect(
      index.search('select:mcp__vcs__diff_show,mcp__notes__getNote,mcp__no__such', { limit: 10 }),
    ).toEqual([
      { tool: GUARD_TOOLS.find((t) => t.name === 'mcp__vcs__diff_show'), score: 1, relevance: 1 },
      { tool: GUARD_TOOLS.find((t) => t.name === 'mcp__notes__getNote'), score: 1, relevance: 1 },
    ]);
  });

  it("select: takes the name that the tool's server gave it", () => {
    expect(names(index.search('select:diff_show'))).toEqual(['mcp__vcs__diff_show']);
  });

  it('select: is not cut by the limit', () => {
    const wanted = GUARD_TOOLS.slice(0, 12).map((t) => t.name);
    expect(names(index.search(`select:${wanted.join(',')}`, { limit: 3 }))).toEqual(wanted);
  });

  it('stop words find the tools that are called so, and no others', () => {
    const spoken = buildIndex([tool('box', 'give'), tool('shell', 'whoAmI'), tool('box', 'giveBack')]);
    expect(['give', 'who am i', 'give me', 'please'].map((query) => names(spoken.search(query)))).toEqual([
      ['mcp__box__give'],
      ['mcp__shell__whoAmI'],
      [],
      [],
    ]);
  });

  it('+word leaves only tools that have the word, in whatever ending', () => {
    const hits = index.search('+branch get rid of', { limit: 100 });
    expect(names(hits).sort()).toEqual([
      'mcp__vcs__branch_create',
      'mcp__vcs__branch_delete',
      'mcp__vcs__branch_list',
      'mcp__vcs__commit_log',
    ]);
    expect(hits[0]?.tool.name).toBe('mcp__vcs__branch_delete');
  });

  it('two musts must both occur, and a must that nothing has gives nothing', () => {
    expect(names(index.search('+branch +history'))).toEqual(['mcp__vcs__commit_log']);
    expect(index.search('+zorblax list branches')).toEqual([]);
  });

  it('a server can be a must', () => {
    const servers = index.search('+tracker list', { limit: 100 }).map((hit) => hit.tool.server);
    expect(new Set(servers)).toEqual(new Set(['tracker']));
  });

  it('reports which words of the query were found where', () => {
    const [hit] = index.search('list the pods of all namespaces');
    expect(hit?.tool.name).toBe('mcp__cluster__pods_list');
    expect(hit?.why).toEqual([
      { field: 'name', words: ['list', 'pods'] },
      { field: 'description', words: ['list', 'pods', 'namespaces'] },
    ]);
  });

  it('returns five by default, best first, with scores between 0 and 1', () => {
    const hits = index.search('delete');
    const scores = hits.map((hit) => hit.score);
    expect(hits).toHaveLength(5);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    for (const score of scores) expect(score > 0 && score < 1).toBe(true);
    expect(index.search('delete', { limit: 0 })).toEqual([]);
    expect(index.search('delete', { limit: -3 })).toEqual([]);
    expect(index.search('delete', { limit: 1.5 })).toHaveLength(1);
    expect(index.search('delete', { limit: Number.NaN })).toEqual([]);
  });

  it('finds words that are only in the schema, however deep', () => {
    const deep = buildIndex([
      ...GUARD_TOOLS,
      tool('x', 'apply', 'Applies it.', {
        type: 'object',
        properties: {
          spec: {
            type: 'array',
            items: { properties: { kind: { enum: ['flywheel'], description: 'A gyroscope part' } } },
          },
        },
      }),
    ]);
    expect(names(deep.search('flywheel', { limit: 1 }))).toEqual(['mcp__x__apply']);
    expect(names(deep.search('gyroscope', { limit: 1 }))).toEqual(['mcp__x__apply']);
  });

  it('nothing is found in nothing', () => {
    expect(buildIndex([]).search('anything')).toEqual([]);
    expect(index.search('')).toEqual([]);
    expect(index.search('+')).toEqual([]);
    expect(index.search('the of and')).toEqual([]);
  });

  it('tools and queries of any content are survived', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const model = loadModel() ?? lexicalModel();
    const anyTool = fc.record({ server: text, name: text, description: text, schema: fc.jsonValue() });
    fc.assert(
      fc.property(fc.array(anyTool, { maxLength: 8 }), text, (tools, query) => {
        const all = tools.map((t) =>
          tool(t.server, t.name, t.description, { properties: t.schema, anyOf: [t.schema], items: t.schema }),
        );
        const hits = buildIndex(all, model).search(query, { limit: 100 });
        expect(hits.length).toBeLessThanOrEqual(all.length);
        for (const hit of hits) expect(all).toContain(hit.tool);
      }),
      { numRuns: 30 },
    );
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%s is a word like others', (word) => {
    const odd = buildIndex([tool('x', word), tool('x', 'other')]);
    expect(names(odd.search(`select:mcp__x__${word}`))).toEqual([`mcp__x__${word}`]);
    expect(odd.search(word).length).toBeGreaterThan(0);
  });

  it('F31: 5,000 tools of one server are searched', () => {
    const many = Array.from({ length: 5000 }, (_x, i) =>
      tool('big', `get_thing_${i}`, `Gets thing number ${i}.`),
    );
    const found = buildIndex(many).search('get thing 4321', { limit: 1 });
    expect(names(found)).toEqual(['mcp__big__get_thing_4321']);
  });
});
