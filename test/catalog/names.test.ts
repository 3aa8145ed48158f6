import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assignNames,
  MAX_GATEWAY_NAME_CHARS,
  MAX_TOOL_NAME_CHARS,
  type NameForm,
  plainName,
  possibleOwners,
  type ToolKey,
} from '../../src/catalog/tool-names.ts';

const VALID = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Names as an attacker picks them: short, so that they collide; long, foreign, special, look-alike. */
const part = fc.oneof(
  fc.constantFrom('a', 'b', 'a__b', 'b__c', 'c', 'a_', '_b', '_', '__', '-', '1', '', 'mcp', 'mcp__a'),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'tool', 'search'),
  fc.constantFrom(
    'read',
    'rеad',
    'ｒｅａｄ',
    'read\u200b',
    'Read',
    'read.',
    'read/',
    '读取',
    '删除',
    '\ud800',
    '\udfff',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('a', '.', '_', '-', ' '), maxLength: 80 }),
  fc.constantFrom('x'.repeat(10_000), `${'x'.repeat(10_000)}y`, '.'.repeat(10_000), 'é'.repeat(64)),
);
const key: fc.Arbitrary<ToolKey> = fc.record({ server: part, tool: part });
const keys = fc.array(key, { maxLength: 40 });
const naming = fc.constantFrom<NameForm>('mcp__', 'short', 'gateway', 'plain');

function assigned(tools: readonly ToolKey[], style: NameForm): Record<string, string> {
  const names = assignNames(tools, style);
  return Object.fromEntries(
    tools.map(({ server, tool }) => [JSON.stringify([server, tool]), names.nameOf(server, tool) ?? '']),
  );
}

describe('CAT-1: names of tools', () => {
  it('are mcp__server__tool, server_tool in the short form, server__tool through the gateway', () => {
    const tools = [
      { server: 'files', tool: 'read_file' },
      { server: 'git hub', tool: 'issues.list' },
      { server: 'files', tool: 'write-file' },
    ];
    expect([...assignNames(tools, 'mcp__').entries()]).toEqual([
      ['mcp__files__read_file', tools[0]],
      ['mcp__git_hub__issues_list', tools[1]],
      ['mcp__files__write-file', tools[2]],
    ]);
    expect([...assignNames(tools, 'short').entries()]).toEqual([
      ['files_read_file', tools[0]],
      ['git_hub_issues_list', tools[1]],
      ['files_write-file', tools[2]],
    ]);
    expect([...assignNames(tools, 'gateway').entries()]).toEqual([
      ['files__read_file', tools[0]],
      ['git_hub__issues_list', tools[1]],
      ['files__write-file', tools[2]],
    ]);
  });

  it('through the gateway have at most 48 characters, so that `mcp__plugboard__` in front stays within 64', () => {
    fc.assert(
      fc.property(keys, (tools) => {
        for (const [name] of assignNames(tools, 'gateway').entries()) {
          expect(name.length).toBeLessThanOrEqual(MAX_GATEWAY_NAME_CHARS);
          expect(`mcp__plugboard__${name}`.length).toBeLessThanOrEqual(MAX_TOOL_NAME_CHARS);
        }
      }),
      { numRuns: 300 },
    );
    const long = [{ server: 'chrome-devtools-for-everybody', tool: 'take_a_snapshot_of_the_whole_page' }];
    expect([...assignNames(long, 'gateway').entries()]).toEqual([
      ['chrome-devtools-__take_a_snapshot_of_t_5ddac490', long[0]],
    ]);
  });

  it('through the gateway never begin like the long form, so that a spelling names one tool', () => {
    fc.assert(
      fc.property(keys, (tools) => {
        for (const [name] of assignNames(tools, 'gateway').entries()) expect(name).not.toMatch(/^mcp__/);
      }),
      { numRuns: 300 },
    );
    const odd = [
      { server: 'mcp', tool: 'a__b' },
      { server: '1password', tool: 'read' },
    ];
    expect([...assignNames(odd, 'gateway').entries()]).toEqual([
      ['_mcp__a__b', odd[0]],
      ['_1password__read', odd[1]],
    ]);
  });

  it('in the plain form are the names that servers gave, where these are unique and not a spelling of another tool', () => {
    const tools = [
      'read',
      'read',
      'issues.list',
      'files__read',
      'tool_search',
      'x'.repeat(64),
      'x'.repeat(65),
      '_',
      '1st',
    ];
    const keyed = tools.map((tool, at) => ({ server: at === 0 ? 'files' : 'git', tool }));
    const names = assignNames(keyed, 'plain', { reserved: ['tool_search'] });
    expect(keyed.map(({ server, tool }) => names.nameOf(server, tool))).toEqual([
      'files__read',
      'git__read',
      'git__issues_list',
      'git__files__read',
      'git__tool_search',
      'x'.repeat(64),
      expect.stringMatching(/^git__x{33}_[0-9a-f]{8}$/),
      expect.stringMatching(/^git____[0-9a-f]{8}$/),
      'git__1st',
    ]);
    fc.assert(
      fc.property(keys, (all) => {
        const gateway = assignNames(all, 'gateway');
        const long = assignNames(all, 'mcp__');
        for (const [name, owner] of assignNames(all, 'plain').entries()) {
          for (const other of [gateway.keyOf(name), long.keyOf(name)]) expect(other ?? owner).toEqual(owner);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('lead to the servers that may own them, in the long form and in that of the gateway', () => {
    fc.assert(
      fc.property(keys, fc.constantFrom<NameForm>('mcp__', 'gateway'), (tools, form) => {
        const servers = [...new Set(tools.map(({ server }) => server))];
        for (const [name, { server }] of assignNames(tools, form).entries())
          expect(possibleOwners(name, servers)).toContain(server);
      }),
      { numRuns: 300 },
    );
    expect(possibleOwners('a__b__c', ['a', 'a__b', 'b', 'c'])).toEqual(['a', 'a__b']);
    expect(possibleOwners('mcp__a__b', ['a', 'mcp', 'b'])).toEqual(['a']);
    expect(possibleOwners('nothing', ['a', 'b'])).toEqual([]);
  });

  // Protocol: 25-tools-7, 25-tools-9, 25-tools-10, 25-tools-11, 26-tools-12, 26-tools-14, 26-tools-15, 26-tools-16
  it('are valid for every provider, at most 64 characters, unique, and lead back exactly', () => {
    fc.assert(
      fc.property(keys, naming, (tools, style) => {
        const names = assignNames(tools, style);
        const seen = new Set<string>();
        for (const { server, tool } of tools) {
          const name = names.nameOf(server, tool) ?? '';
          expect(name).toMatch(VALID);
          expect(names.keyOf(name)).toEqual({ server, tool });
          seen.add(name);
        }
        expect(names.size).toBe(seen.size);
        expect(seen.size).toBe(new Set(tools.map(({ server, tool }) => JSON.stringify([server, tool]))).size);
      }),
      { numRuns: 500 },
    );
  });

  it('do not depend on the order of the tools', () => {
    fc.assert(
      fc.property(keys, naming, fc.infiniteStream(fc.nat()), (tools, style, random) => {
        const shuffled = tools
          .map((tool) => ({ tool, rank: random.next().value as number }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ tool }) => tool);
        expect(assigned(shuffled, style)).toEqual(assigned(tools, style));
      }),
      { numRuns: 300 },
    );
  });

  it('do not depend on other tools, unless these claim the same name', () => {
    fc.assert(
      fc.property(key, keys, naming, (one, others, style) => {
        const alone = assignNames([one], style).nameOf(one.server, one.tool);
        const wanted = others
          .filter(({ server, tool }) => server !== one.server || tool !== one.tool)
          .flatMap((other) => [
            plainName(other.server, other.tool, style),
            ...[...assignNames([...others, one], style).entries()]
              .filter(([, owner]) => owner.server === other.server && owner.tool === other.tool)
              .map(([name]) => name),
          ]);
        fc.pre(alone !== undefined && !wanted.includes(alone));
        expect(assignNames([...others, one], style).nameOf(one.server, one.tool)).toBe(alone);
      }),
      { numRuns: 300 },
    );
  });

  // Protocol: 26-tools-17
  it('A23: a tool named like another server’s takes its name away from both, never over', () => {
    const mine = { server: 'a', tool: 'b__c' };
    const theirs = { server: 'a__b', tool: 'c' };
    const names = assignNames([mine, theirs], 'mcp__');
    expect([...names.entries()]).toEqual([
      ['mcp__a__b__c_d28d61bb', mine],
      ['mcp__a__b__c_528239e9', theirs],
    ]);
    expect(names.keyOf('mcp__a__b__c')).toBeUndefined();
  });

  // Protocol: 25-tools-8, 26-tools-13, 26-tools-17
  it('F32: duplicate and confusable names are distinguished, and each is reachable', () => {
    const tools = ['read.file', 'read file', 'read_file', 'rеad_file', 'read_file'].map((tool) => ({
      server: 's',
      tool,
    }));
    const names = assignNames(tools, 'mcp__');
    expect(names.size).toBe(4);
    for (const { tool } of tools) {
      expect(names.keyOf(names.nameOf('s', tool) ?? '')).toEqual({ server: 's', tool });
    }
    // Alone with its sanitised form, the Cyrillic one needs no suffix: no other tool claims `r_ad_file`.
    expect(names.nameOf('s', 'rеad_file')).toBe('mcp__s__r_ad_file');
  });

  it('keep the server and the head of the tool when they are cut', () => {
    const names = assignNames(
      [{ server: 'chrome-devtools', tool: `take_${'very_'.repeat(20)}long_snapshot` }],
      'mcp__',
    );
    const [name] = [...names.entries()][0] ?? [''];
    expect(name).toMatch(/^mcp__chrome-devtools__take_very_very_[a-z_]*_[0-9a-f]{8}$/);
    expect(name).toHaveLength(MAX_TOOL_NAME_CHARS);
  });

  it('get a hash where nothing readable is left of them, independent of other tools', () => {
    const read = assignNames([{ server: 's', tool: '读取' }], 'mcp__').nameOf('s', '读取');
    expect(read).toMatch(/^mcp__s_____[0-9a-f]{8}$/);
    expect(
      assignNames(
        [
          { server: 's', tool: '删除' },
          { server: 's', tool: '读取' },
        ],
        'mcp__',
      ).nameOf('s', '读取'),
    ).toBe(read);
  });

  it('leave reserved names alone', () => {
    const names = assignNames([{ server: 'tool', tool: 'search' }], 'short', { reserved: ['tool_search'] });
    expect(names.nameOf('tool', 'search')).toMatch(/^tool_search_[0-9a-f]{8}$/);
  });

  it('A23: a tool that guesses the hashed name of another pushes it aside, and is pushed aside', () => {
    const pair = [
      { server: 'a', tool: 'b.c' },
      { server: 'a', tool: 'b_c' },
    ];
    const hashed = assignNames(pair, 'mcp__').nameOf('a', 'b.c') ?? '';
    const squatter = { server: 'a', tool: hashed.slice('mcp__a__'.length) };
    const names = assignNames([...pair, squatter], 'mcp__');
    expect(names.keyOf(hashed)).toBeUndefined();
    expect(names.nameOf('a', 'b.c')).toMatch(/^mcp__a__b_c_[0-9a-f]{16}$/);
    expect(names.nameOf(squatter.server, squatter.tool)).toMatch(new RegExp(`^${hashed}_[0-9a-f]{8}$`));
  });
});
