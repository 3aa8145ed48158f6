import { describe, expect, it } from 'vitest';
import type { ServerEntry } from '../../src/config/entry.ts';
import type { Scope } from '../../src/config/scopes.ts';
import { hashTool, judge, type PinnedTool, pinKey, pinMode } from '../../src/policy/pins.ts';

const tool: PinnedTool = {
  name: 'add',
  title: 'Add',
  description: 'Adds.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
};

describe('pins (POL-3)', () => {
  it('the order of keys and of required names does not matter', () => {
    const { properties, required } = tool.inputSchema as { properties: object; required: string[] };
    const shuffled: PinnedTool = {
      annotations: { readOnlyHint: true },
      outputSchema: { type: 'object' },
      inputSchema: {
        required: required.toReversed(),
        properties: Object.fromEntries(Object.entries(properties).toReversed()),
        type: 'object',
      },
      description: 'Adds.',
      title: 'Add',
      name: 'add',
    };
    expect(hashTool(shuffled)).toBe(hashTool(tool));
  });

  it.each<[string, Partial<PinnedTool>]>([
    ['title', { title: 'Add!' }],
    ['description', { description: 'Adds. ' }],
    ['inputSchema', { inputSchema: { type: 'object' } }],
    ['outputSchema', { outputSchema: {} }],
    ['annotations', { annotations: { readOnlyHint: false } }],
  ])('a change of %s is one', (_what, change) => {
    const record = { server: 's', tools: { add: hashTool(tool) } };
    expect(judge(record, { tools: [{ ...tool, ...change }] })).toEqual({
      changed: ['add'],
      added: [],
      instructionsChanged: false,
      identityChanged: false,
    });
  });

  it.each<[Scope, ServerEntry, string]>([
    ['user', { command: 'x' }, 'warn'],
    ['local', { command: 'x', pins: 'hold' }, 'hold'],
    ['user', { url: 'https://a.test' }, 'hold'],
    ['user', { url: 'https://a.test', pins: 'off' }, 'off'],
    ['project', { command: 'x' }, 'hold'],
    ['project', { command: 'x', pins: 'off' }, 'hold'],
    ['plugin', { url: 'https://a.test', pins: 'warn' }, 'hold'],
  ])('%s %j: %s', (scope, entry, mode) => {
    expect(pinMode({ scope, entry })).toBe(mode);
  });

  it('another address is another server; another header is not', () => {
    const key = (entry: ServerEntry): string =>
      pinKey({ name: 's', scope: 'user', entry, raw: {}, baseDir: '/' });
    expect(key({ url: 'https://a.test' })).not.toBe(key({ url: 'https://b.test' }));
    expect(key({ url: 'https://a.test', headers: { X: '1' } })).toBe(key({ url: 'https://a.test' }));
  });
});
