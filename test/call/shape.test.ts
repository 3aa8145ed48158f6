import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../src/catalog/tokens.ts';
import type { CallResult, HostOptions } from '../../src/index.ts';
import { scriptedServer } from '../../src/testing/index.ts';
import { text } from '../world/content.ts';
import { type ScriptedHost, scratch, scriptedHost } from '../world/scripted-host.ts';

async function giving(
  result: unknown,
  options: Partial<HostOptions> & { entry?: Record<string, unknown>; dir?: string } = {},
): Promise<ScriptedHost & { result: CallResult }> {
  const server = scriptedServer({ eras: 'legacy', tools: { get: () => result } });
  const made = await scriptedHost({ server, ...options });
  const answer = await made.host.call('mcp__s__get');
  await made.host.close();
  return Object.assign(made, { result: answer });
}

const image = { type: 'image', data: Buffer.from('picture').toString('base64'), mimeType: 'image/png' };
const audio = { type: 'audio', data: Buffer.from('sound').toString('base64'), mimeType: 'audio/wav' };
const link = { type: 'resource_link', uri: 'file:///a.md', name: 'a.md', size: 7 };

describe('CAL-5: limits', () => {
  it('a short result is passed on as it is', async () => {
    const given = {
      content: [text('hello'), image, audio, link],
      structuredContent: { a: 1 },
      _meta: { k: 'v' },
    };
    const { result, events } = await giving(given);
    expect(result).toEqual({ ...given, isError: false });
    expect(events('log')).toEqual([]);
  });

  it('warns above 10 000 tokens and passes it on whole', async () => {
    const { result, events } = await giving({ content: [text('a'.repeat(40_004))] });
    expect(result).toEqual({ content: [text('a'.repeat(40_004))], isError: false });
    expect(events('log')).toEqual([
      { server: 's', level: 'warning', message: 'get answered with about 10001 tokens' },
    ]);
    expect((await giving({ content: [text('a'.repeat(40_000))] })).events('log')).toEqual([]);
  });

  it('CAL-8: stores a text above 25 000 tokens in a file; the model gets its beginning, shape, address and path', async () => {
    const whole = 'line of text\n'.repeat(10_000);
    const { result, home } = await giving({ content: [text(whole)] });
    const [file] = readdirSync(join(home, 'outputs'));
    const path = join(home, 'outputs', String(file));
    expect(readFileSync(path, 'utf8')).toBe(whole);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const ref = String(result.truncated?.ref);
    expect(ref).toMatch(/^plugboard:\/\/result\/[\w-]{16}$/);
    expect(result.truncated).toEqual({ tokens: 32_500, file: path, ref });
    expect(result.content).toEqual([
      text(expect.stringMatching(/^line of text\n(?:line of text\n){100,}/)),
      text(
        `[Cut: the whole result is about 32500 tokens (130000 bytes), the limit is 25000. ` +
          `It is stored as ${ref}: text, 10000 lines. Read parts with the tool result (select, lines, search), or ` +
          `pass it on with {"$ref":"${ref}"} as an argument. ` +
          `All of it is in ${path}; read it there in parts, by lines, or ask the tool for less.]`,
      ),
    ]);
    expect(cost(result)).toBeLessThanOrEqual(600);
  });

  it.each<[string, number, Parameters<typeof giving>[1]]>([
    ['MAX_MCP_OUTPUT_TOKENS', 300, { env: { MAX_MCP_OUTPUT_TOKENS: '300' } }],
    [
      'the server over the environment',
      400,
      { env: { MAX_MCP_OUTPUT_TOKENS: '300' }, entry: { maxOutputTokens: 400 } },
    ],
    [
      'the tool over its server',
      500,
      { entry: { maxOutputTokens: 400, tools: { get: { maxOutputTokens: 500 } } } },
    ],
    ['a value that is no number counts as none', 25_000, { env: { MAX_MCP_OUTPUT_TOKENS: 'many' } }],
  ])('%s', async (_what, max, options) => {
    const { result } = await giving({ content: [text('a'.repeat(200_000))] }, options);
    expect(result.truncated?.tokens).toBe(50_000);
    expect(result.content.at(-1)).toMatchObject({ text: expect.stringContaining(`the limit is ${max}.`) });
    expect(cost(result)).toBeLessThanOrEqual(max);
  });

  it.each(['語'.repeat(60_000), '😀'.repeat(30_000), `a${'é'.repeat(50_000)}`])(
    'other alphabets stay within the limit too, and no character is cut in two',
    async (whole) => {
      const { result } = await giving({ content: [text(whole)] });
      expect(cost(result)).toBeLessThanOrEqual(25_000);
      const [first] = result.content;
      expect(first?.type === 'text' && first.text.isWellFormed() && whole.startsWith(first.text)).toBe(true);
      expect(cost(result)).toBeGreaterThan(550);
    },
  );

  it('defaults of config.json count where nothing else does', async () => {
    const dir = scratch();
    const made = await scriptedHost({ dir });
    await made.host.close();
    writeFileSync(join(dir, 'home', 'config.json'), JSON.stringify({ defaults: { maxOutputTokens: 600 } }));
    const { result } = await giving({ content: [text('a'.repeat(10_000))] }, { dir });
    expect(result.content.at(-1)).toMatchObject({ text: expect.stringContaining('the limit is 600.') });
  });

  it('`forModel: false` gives everything as it came', async () => {
    const content = [text(`\u202e${'a'.repeat(200_000)}`)];
    expect((await giving({ content }, { forModel: false })).result).toEqual({ content, isError: false });
  });

  it('a folder that cannot be written costs the file, not the answer', async () => {
    const dir = scratch();
    const made = await scriptedHost({ dir });
    await made.host.close();
    writeFileSync(join(dir, 'home', 'outputs'), 'in the way');
    const { result, events } = await giving({ content: [text('a'.repeat(200_000))] }, { dir });
    expect(result.truncated).toEqual({ tokens: 50_000, file: '' });
    expect(result.content.at(-1)).toMatchObject({ text: expect.stringContaining('It was not saved') });
    // The other world of this home had no such tool, so its pins have a word about it as well.
    const logs = events('log').filter(({ message }) => !message.startsWith('new since'));
    expect(logs.map(({ level, message }) => [level, message.replace(/: [A-Z]+:.*$/, '')])).toEqual([
      ['warning', 'the output of get could not be saved'],
      ['warning', 'get: about 50000 tokens were cut to 25000; the rest is lost'],
    ]);
  });
});

describe('CAL-5: content and structured content', () => {
  it('structured content that repeats the text is counted once, and both are kept', async () => {
    const structuredContent = { rows: Array.from({ length: 500 }, (_, at) => ({ at })) };
    for (const written of [JSON.stringify(structuredContent), JSON.stringify(structuredContent, null, 1)]) {
      const { result } = await giving(
        { content: [text(written)], structuredContent },
        { entry: { maxOutputTokens: estimateTokens(written) } },
      );
      expect(result).toEqual({ content: [text(written)], structuredContent, isError: false });
    }
  });

  it('structured content that adds to the text is counted; a small one is kept, a large one is in the file', async () => {
    const small = await giving({ content: [text('a'.repeat(200_000))], structuredContent: { a: 1 } });
    expect(small.result.structuredContent).toEqual({ a: 1 });
    expect(JSON.parse(readFileSync(String(small.result.truncated?.file), 'utf8'))).toEqual({
      content: [text('a'.repeat(200_000))],
      structuredContent: { a: 1 },
      isError: false,
    });
    const rows = Array.from({ length: 20_000 }, (_, at) => at);
    const large = await giving({ content: [text('rows')], structuredContent: { rows } });
    expect(large.result.structuredContent).toBeUndefined();
    expect(large.result.content[0]).toEqual(text('rows'));
    expect(JSON.parse(readFileSync(String(large.result.truncated?.file), 'utf8')).structuredContent).toEqual({
      rows,
    });
  });

  it('links survive a cut, embedded text is cut with it', async () => {
    const resource = { type: 'resource', resource: { uri: 'file:///b.txt', text: 'b'.repeat(150_000) } };
    const { result } = await giving({ content: [text('first'), resource, link] });
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'resource', 'resource_link', 'text']);
    expect(result.content[2]).toEqual(link);
    expect(cost(result)).toBeLessThanOrEqual(25_000);
    const blob = { type: 'resource', resource: { uri: 'file:///c', blob: 'AAAA'.repeat(50_000) } };
    expect((await giving({ content: [blob, text('after')] })).result.content.map(({ type }) => type)).toEqual(
      ['text'],
    );
  });
});

describe('CAL-5: content that the model cannot take', () => {
  it.each([
    ['images', { images: false }, image, 'image (image/png, 7 bytes)', 'image', 'png', 'picture'],
    ['audio', { audio: false }, audio, 'audio (audio/wav, 5 bytes)', 'audio', 'wav', 'sound'],
  ] as const)('%s become a file and a note', async (_what, model, block, what, kind, ending, bytes) => {
    const { result, home } = await giving({ content: [block, text('x')] }, { model });
    const [file] = readdirSync(join(home, 'outputs'));
    const path = join(home, 'outputs', String(file));
    expect(result.content).toEqual([
      text(`[${what} left out, because this model takes no ${kind}; saved as ${path}]`),
      text('x'),
    ]);
    expect(path.endsWith(`.${ending}`)).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe(bytes);
    const kept = await giving({ content: [block] });
    expect(kept.result.content).toEqual([block]);
    expect(existsSync(join(kept.home, 'outputs'))).toBe(false);
  });

  it('a file ending comes from a list of letters, not from the server', async () => {
    const { home } = await giving(
      { content: [{ ...image, mimeType: 'image/../../../x' }] },
      { model: { images: false } },
    );
    expect(readdirSync(join(home, 'outputs'))).toEqual([expect.stringMatching(/-mcp__s__get\.bin$/)]);
  });
});

describe('POL-4: texts are cleaned wherever a model could read them', () => {
  // Protocol: 25-tools-17d, 26-tools-35d
  it('text, embedded text, links and structured content', async () => {
    const dirty = 'a\u202eb\u200bc\x1b[31md';
    const { result } = await giving({
      content: [
        text(dirty),
        { type: 'resource', resource: { uri: 'x:y', text: dirty } },
        { type: 'resource_link', uri: 'x:y', name: dirty, description: dirty },
      ],
      structuredContent: { [dirty]: [dirty, { deep: dirty }], same: 'x' },
    });
    expect(result).toEqual({
      content: [
        text('abcd'),
        { type: 'resource', resource: { uri: 'x:y', text: 'abcd' } },
        { type: 'resource_link', uri: 'x:y', name: 'abcd', description: 'abcd' },
      ],
      structuredContent: { abcd: ['abcd', { deep: 'abcd' }], same: 'x' },
      isError: false,
    });
  });
});

function cost({ content }: CallResult): number {
  return content.reduce((sum, block) => {
    if (block.type === 'text') return sum + estimateTokens(block.text);
    return sum + estimateTokens(JSON.stringify(block));
  }, 0);
}

describe('CAL-5: anthropic/maxResultSizeChars', () => {
  it.each([
    ['lowers the limit', 2_000, 500],
    ['never raises it', 10_000_000, 25_000],
    ['is ignored if it is not a positive number', -1, 25_000],
  ])('%s', async (_what, chars, limit) => {
    const server = scriptedServer({
      tools: {
        get: { _meta: { 'anthropic/maxResultSizeChars': chars }, run: () => 'a'.repeat(200_000) },
      },
    });
    const world = await scriptedHost({ server });
    const { content } = await world.host.call('mcp__s__get');
    expect(content.at(-1)).toMatchObject({ text: expect.stringContaining(`the limit is ${limit}.`) });
    await world.host.close();
  });
});
