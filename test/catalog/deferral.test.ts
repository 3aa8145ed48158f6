import { describe, expect, it } from 'vitest';
import { Catalog, readListing } from '../../src/catalog/catalog.ts';
import { type DeferralOptions, defer, parseMode, visibleTools } from '../../src/catalog/deferral.ts';
import { estimateTokens } from '../../src/catalog/tokens.ts';
import { toolId } from '../../src/catalog/tool.ts';

function snapshot(count: number, chars = 400): Catalog['snapshot'] {
  const catalog = new Catalog('mcp__', ['tool_search']);
  const tools = Array.from({ length: count }, (_, at) => ({
    name: `t${at}`,
    description: 'x'.repeat(chars),
    inputSchema: { type: 'object' },
  }));
  catalog.set('many', {}, readListing(tools, { paramHeaders: false }));
  catalog.set('few', { alwaysLoad: true }, readListing(tools.slice(0, 1), { paramHeaders: false }));
  return catalog.snapshot;
}

const options = (more: Partial<DeferralOptions> = {}): DeferralOptions => ({
  mode: 'auto',
  contextTokens: 200_000,
  alwaysLoad: (server) => server === 'few',
  ...more,
});

describe('deferral (CAT-7)', () => {
  it('auto defers when definitions take more than a tenth of the window', () => {
    expect(defer(snapshot(10), options()).searchTool).toBeUndefined();
    const large = defer(snapshot(250), options());
    expect(large.definitionTokens).toBeGreaterThan(20_000);
    expect(large.direct.map(({ name }) => name)).toEqual(['mcp__few__t0']);
    expect(large.deferred.size).toBe(250);
    expect(defer(snapshot(250), options({ contextTokens: 1_000_000 })).searchTool).toBeUndefined();
    expect(defer(snapshot(10), options({ mode: 'auto:0.1' })).searchTool).toBeDefined();
  });

  it('true and false do not look at the size', () => {
    expect(defer(snapshot(1), options({ mode: true })).deferred.size).toBe(1);
    expect(defer(snapshot(1_000), options({ mode: false })).direct).toHaveLength(1_001);
  });

  it('the search tool describes what there is, within bounds, at a fraction of the cost', () => {
    const { searchTool, definitionTokens } = defer(snapshot(1_000), options());
    expect(searchTool?.description).toContain('- many: t0, t1, t10');
    expect(searchTool?.description).toContain('992 more');
    expect(estimateTokens(JSON.stringify(searchTool))).toBeLessThan(definitionTokens / 100);
  });

  it('loaded tools follow the others in the order they were loaded, and never move', () => {
    const deferral = defer(snapshot(300), options());
    const names = (tools: string[]): string[] => {
      const loaded = tools.map((tool) => toolId({ server: 'many', tool }));
      return visibleTools(deferral, loaded).map(({ name }) => name);
    };
    const fixed = ['mcp__few__t0', 'tool_search'];
    expect(names([])).toEqual(fixed);
    expect(names(['t9', 't1'])).toEqual([...fixed, 'mcp__many__t9', 'mcp__many__t1']);
    expect(names(['t9', 'gone', 't1', 't5'])).toEqual([
      ...fixed,
      'mcp__many__t9',
      'mcp__many__t1',
      'mcp__many__t5',
    ]);
  });

  it('ENABLE_TOOL_SEARCH takes auto, auto:N, true and false, and nothing else', () => {
    expect(['auto', 'AUTO:5', 'true', '0'].map(parseMode)).toEqual(['auto', 'auto:5', true, false]);
    for (const wrong of ['', 'yes', 'auto:', 'auto:101', 'auto:x']) {
      expect(() => parseMode(wrong)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    }
  });
});
