import { describe, expect, it } from 'vitest';
import type { PromptMessage } from '../../src/catalog/prompts.ts';
import type { ScriptedServer } from '../../src/testing/scripted-server.ts';
import { RpcError } from '../../src/testing/scripted-tool.ts';
import { contentServer, count, type Era, hostOver, paramsOf } from './content-host.ts';

const ERAS: readonly Era[] = ['legacy', 'modern'];
const REVIEW = {
  name: 'review',
  title: 'Review',
  description: 'Reviews a file.',
  arguments: [
    { name: 'file', description: 'Which one.', required: true },
    { name: 'focus' },
    { name: 'style' },
  ],
};

/** Answers every prompt with its name and arguments. */
function sayingBack(server: ScriptedServer): ScriptedServer {
  return server.on('prompts/get', ({ params }) => ({
    description: 'Said back.',
    messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(params['arguments']) } }],
  }));
}

const text = (value: string): PromptMessage => ({ role: 'user', content: { type: 'text', text: value } });
const reviewServer = (era: Era = 'legacy'): ScriptedServer =>
  sayingBack(contentServer({ era, prompts: [REVIEW, { name: 'plain' }] }));

describe.each(ERAS)('prompts of a %s server', (era) => {
  it('CAT-10: are listed as commands', async () => {
    const { host } = await hostOver({ docs: reviewServer(era) });
    expect(await host.prompts()).toEqual([
      { command: '/mcp__docs__review', server: 'docs', ...REVIEW },
      { command: '/mcp__docs__plain', server: 'docs', name: 'plain' },
    ]);
  });

  it('CAT-10: all kinds of content survive, and roles', async () => {
    const blocks = [
      { type: 'text', text: 'hi', annotations: { audience: ['user'] } },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
      { type: 'resource', resource: { uri: 'x://a', mimeType: 'text/plain', text: 'a' } },
      { type: 'resource', resource: { uri: 'x://b', blob: 'AAAA' } },
      { type: 'resource_link', uri: 'x://c', name: 'c' },
    ];
    const docs = contentServer({ era, prompts: [{ name: 'all' }] });
    docs.on('prompts/get', () => ({
      messages: blocks.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
    }));
    const { host } = await hostOver({ docs });
    const { messages } = await host.prompt('docs', 'all');
    expect(messages).toEqual(
      blocks.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
    );
    expect(await host.expand('/mcp__docs__all')).toEqual({ messages, unknown: [] });
  });

  // Protocol: 25-prompts-7, 26-prompts-10
  it('CAT-10: arguments are sent as text; what is required is named when it is missing', async () => {
    const docs = reviewServer(era);
    const { host } = await hostOver({ docs });
    const loose: Readonly<Record<string, never>> = JSON.parse('{"file":"a.md","style":3}');
    expect(await host.prompt('docs', 'review', loose)).toEqual({
      description: 'Said back.',
      messages: [text('{"file":"a.md","style":"3"}')],
    });
    await expect(host.prompt('docs', 'review', { style: 'terse' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      server: 'docs',
      message: 'The prompt review of docs needs file',
      hint: 'It takes <file> [focus] [style].',
    });
    expect(count(docs, 'prompts/get')).toBe(1);
  });
});

describe('prompt', () => {
  it('an unknown one is reported with the nearest name', async () => {
    const docs = contentServer({ prompts: [REVIEW] });
    docs.on('prompts/get', ({ params }) => {
      throw new RpcError(-32602, `MCP error -32602: Prompt ${String(params['name'])} not found`);
    });
    const { host } = await hostOver({ docs });
    await expect(host.prompt('docs', 'reviw')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      server: 'docs',
      message: 'docs has no prompt called reviw: Prompt reviw not found',
      hint: 'Did you mean review?',
    });
    await expect(host.prompt('docs', 'review', { file: 'a' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: 'docs did not give the prompt review: Prompt review not found',
    });
  });

  it('F57: bare strings, lists of blocks, unknown roles and kinds end as messages', async () => {
    const docs = contentServer({ prompts: [{ name: 'odd' }] });
    docs.once('prompts/get', () => ({ messages: 'none' }));
    docs.on('prompts/get', () => ({
      messages: [
        { role: 'user', content: 'bare' },
        { role: 'system', content: [{ type: 'text', text: 'one' }, { type: 'hologram' }] },
        null,
      ],
    }));
    const { host, complaints } = await hostOver({ docs });
    await expect(host.prompt('docs', 'odd')).rejects.toMatchObject({
      code: 'PROTOCOL_ERROR',
      server: 'docs',
    });
    expect((await host.prompt('docs', 'odd')).messages).toEqual([
      text('bare'),
      text('one'),
      {
        role: 'user',
        content: { type: 'text', text: '{"type":"hologram"}', original: { type: 'hologram' } },
      },
      text('null'),
    ]);
    expect(complaints.length).toBeGreaterThan(0);
  });

  // Protocol: 25-prompts-10, 26-prompts-13
  it('A15: the text of a prompt is cleaned for models', async () => {
    const docs = contentServer({ prompts: [{ name: 'evil', description: 'a\u202eb' }] });
    docs.on('prompts/get', () => ({
      messages: [
        { role: 'user', content: { type: 'text', text: 'x\u001b[2Jy' } },
        { role: 'user', content: { type: 'resource', resource: { uri: 'x://a', text: 'x\u200by' } } },
      ],
    }));
    const { host } = await hostOver({ docs });
    expect((await host.prompts()).map(({ description }) => description)).toEqual(['ab']);
    expect((await host.prompt('docs', 'evil')).messages).toEqual([
      text('xy'),
      { role: 'user', content: { type: 'resource', resource: { uri: 'x://a', text: 'xy' } } },
    ]);
  });
});

describe('slash commands', () => {
  const given = async (line: string): Promise<unknown> => {
    const { host } = await hostOver({ docs: reviewServer() });
    const { messages } = await host.expand(`/mcp__docs__review${line}`);
    const [first] = messages;
    return first?.content.type === 'text' ? JSON.parse(first.content.text) : undefined;
  };

  it.each([
    [
      'by position and by name',
      ' one "two words" style=terse',
      { file: 'one', focus: 'two words', style: 'terse' },
    ],
    ['by name in any order, the others filling up', ' style=terse one', { file: 'one', style: 'terse' }],
    ['single quotes and backslashes', ' \'a "b"\' c\\ d', { file: 'a "b"', focus: 'c d' }],
    ['an empty one', ' "" x', { file: '', focus: 'x' }],
    ['quotes in the middle of a value', ' file="a b".md', { file: 'a b.md' }],
    ['an equals sign that is part of a text', ' x=1 "style=terse"', { file: 'x=1', focus: 'style=terse' }],
    ['over several lines', ' one\n\ttwo', { file: 'one', focus: 'two' }],
  ])('CAT-10: arguments %s', async (_, line, expected) => {
    expect(await given(line)).toEqual(expected);
  });

  it.each([
    ['', 'The prompt review of docs needs file', 'It takes <file> [focus] [style].'],
    [
      ' a b c d',
      '/mcp__docs__review takes <file> [focus] [style], with 4 given',
      'Put text with spaces in quotes.',
    ],
    [
      ' a stlye=terse',
      '/mcp__docs__review has no argument stlye',
      'Did you mean style=…? In quotes it is taken as text.',
    ],
    [' file=a file=b', '/mcp__docs__review was given file twice', 'Give each argument once.'],
    [
      " don't",
      "/mcp__docs__review was given a quote (') that is not closed",
      'Close it, or put a backslash before it.',
    ],
  ])('CAT-10: reports what is wrong with "%s"', async (line, message, hint) => {
    await expect(given(line)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      server: 'docs',
      message,
      hint,
    });
  });

  it('an unknown command stays text and is reported; other slashes are just text', async () => {
    const { host } = await hostOver({ docs: reviewServer() });
    expect(await host.expand('/mcp__docs__nope now')).toEqual({
      messages: [text('/mcp__docs__nope now')],
      unknown: ['/mcp__docs__nope'],
    });
    expect(await host.expand('/usr/bin is a folder')).toEqual({
      messages: [text('/usr/bin is a folder')],
      unknown: [],
    });
    expect(await host.expand('say /mcp__docs__review')).toEqual({
      messages: [text('say /mcp__docs__review')],
      unknown: [],
    });
  });

  it('F32: names that look alike are all reachable, each by a command of its own', async () => {
    const server = (): ScriptedServer =>
      sayingBack(contentServer({ prompts: [{ name: 'say it' }, { name: 'say_it' }] }));
    const servers = { 'my docs': server(), my_docs: server() };
    const { host } = await hostOver(servers);
    const listed = await host.prompts();
    expect(new Set(listed.map(({ command }) => command)).size).toBe(4);
    for (const { command, server: of, name } of listed) {
      expect(command).toMatch(/^\/mcp__my_docs__say_it_[0-9a-f]{8}$/);
      const before = count(servers[of === 'my docs' ? 'my docs' : 'my_docs'], 'prompts/get');
      await host.expand(command);
      const asked = await servers[of === 'my docs' ? 'my docs' : 'my_docs'].seen('prompts/get', before + 1);
      expect(paramsOf(asked.at(-1))).toMatchObject({ name });
    }
    expect(await host.prompts('my docs')).toEqual(listed.filter(({ server: of }) => of === 'my docs'));
  });

  it('CAT-10: short naming writes /server:prompt', async () => {
    const servers = {
      docs: reviewServer(),
      'a b': sayingBack(contentServer({ prompts: [{ name: 'x' }, { name: 'y:z' }] })),
    };
    const { host } = await hostOver(servers, { naming: 'short' });
    expect((await host.prompts()).map(({ command }) => command)).toEqual([
      '/a_b:x',
      '/a_b:y_z',
      '/docs:review',
      '/docs:plain',
    ]);
    expect((await host.expand('/docs:review a.md')).messages).toEqual([text('{"file":"a.md"}')]);
    expect(await host.expand('/docs:nope')).toEqual({
      messages: [text('/docs:nope')],
      unknown: ['/docs:nope'],
    });
  });

  it('only servers that the command could belong to are started for it', async () => {
    const servers = { docs: reviewServer(), other: reviewServer() };
    const { host } = await hostOver(servers, { connect: 'none' });
    expect((await host.expand('/mcp__docs__review a.md')).messages).toEqual([text('{"file":"a.md"}')]);
    expect([servers.docs.connections, servers.other.connections]).toEqual([1, 0]);
  });
});

describe.each(ERAS)('completion by a %s server', (era) => {
  it('CAT-10: values for arguments of prompts and templates, with what is filled in already', async () => {
    const docs = contentServer({ era });
    docs.on('completion/complete', () => ({
      completion: { values: ['paris', 7, 'pa\u001b[1mrma'], total: 40, hasMore: true },
    }));
    const { host } = await hostOver({ docs });
    const found = { values: ['paris', 'parma'], total: 40, hasMore: true };
    const argument = { name: 'city', value: 'pa' };
    expect(
      await host.complete({ server: 'docs', type: 'ref/prompt', name: 'weather' }, argument, {
        context: { country: 'fr' },
      }),
    ).toEqual(found);
    expect(
      await host.complete({ server: 'docs', type: 'ref/resource', uri: 'x://{city}' }, argument),
    ).toEqual(found);
    const asked = await docs.seen('completion/complete', 2);
    expect(asked.map(paramsOf)).toEqual([
      { ref: { type: 'ref/prompt', name: 'weather' }, argument, context: { arguments: { country: 'fr' } } },
      { ref: { type: 'ref/resource', uri: 'x://{city}' }, argument },
    ]);
  });

  // Protocol: 25-prompts-9, 26-prompts-12
  it('a server that does not complete has no suggestions and is not asked', async () => {
    const docs = contentServer({ era, capabilities: { prompts: {} } });
    const { host } = await hostOver({ docs });
    const ref = { server: 'docs', type: 'ref/prompt', name: 'x' } as const;
    expect(await host.complete(ref, { name: 'a', value: '' })).toEqual({ values: [] });
    expect(count(docs, 'completion/complete')).toBe(0);
  });

  // Protocol: 25-completion-4c, 26-completion-5c
  it('more values than the protocol allows are cut, and marked as more', async () => {
    const docs = contentServer({ era });
    docs.on('completion/complete', () => ({
      completion: { values: Array.from({ length: 150 }, (_, at) => `v${at}`) },
    }));
    const { host } = await hostOver({ docs });
    const ref = { server: 'docs', type: 'ref/prompt', name: 'x' } as const;
    const { values, hasMore } = await host.complete(ref, { name: 'a', value: '' });
    expect([values.length, values.at(-1), hasMore]).toEqual([100, 'v99', true]);
  });
});
