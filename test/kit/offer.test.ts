/** What a server offers and lists: tools with schemas of any kind, resources, templates, prompts; at any time. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  defineServer,
  prompt,
  resource,
  resourceTemplate,
  type Server,
  type StandardSchema,
  tool,
} from '../../src/kit/index.ts';
import { connectInMemory } from '../../src/testing/index.ts';
import { call, request, result, talkTo, text } from './lines.ts';

async function listed(server: Server): Promise<unknown> {
  const client = await connectInMemory(server);
  try {
    return await client.tools();
  } finally {
    await client.close();
  }
}

async function called(server: Server, name: string, args: Record<string, unknown> = {}): Promise<unknown> {
  const client = await connectInMemory(server, { era: 'legacy' });
  try {
    return await client.call(name, args);
  } finally {
    await client.close();
  }
}

/** A Standard Schema as some library other than zod would make it. */
function even(withJsonSchema: boolean): StandardSchema<{ n: number }> {
  const written = () => ({ type: 'object', properties: { n: { type: 'number', multipleOf: 2 } } });
  return {
    '~standard': {
      version: 1,
      vendor: 'another',
      validate: async (value) => {
        const { n } = value as { n: number };
        return n % 2 === 0 ? { value: { n } } : { issues: [{ message: 'odd', path: [{ key: 'n' }] }] };
      },
      ...(withJsonSchema ? { jsonSchema: { input: written, output: written } } : {}),
    },
  };
}

describe('tools', () => {
  // Protocol: 25-base-17, 25-base-22, 25-tools-5, 26-base-34, 26-base-39, 26-tools-10
  it('KIT-1: are listed with everything that their author declares, and nothing else', async () => {
    const server = defineServer({
      name: 'lists',
      tools: [
        tool({
          name: 'area',
          title: 'Area',
          description: 'Computes an area.',
          input: z.object({ width: z.number(), height: z.number().default(1) }),
          output: z.object({ area: z.number() }),
          annotations: { readOnlyHint: true },
          _meta: { mine: 1 },
          run: ({ width, height }) => ({ area: width * height }),
        }),
        tool({ name: 'bare', run: () => 'x' }),
      ],
    });
    expect(await listed(server)).toEqual([
      {
        name: 'area',
        title: 'Area',
        description: 'Computes an area.',
        inputSchema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: { width: { type: 'number' }, height: { type: 'number', default: 1 } },
          required: ['width'],
        },
        outputSchema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: { area: { type: 'number' } },
          required: ['area'],
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true },
        _meta: { mine: 1 },
      },
      { name: 'bare', inputSchema: { type: 'object', properties: {} } },
    ]);
    expect(await called(server, 'area', { width: 3 })).toEqual({
      content: [{ type: 'text', text: '{"area":3}' }],
      structuredContent: { area: 3 },
    });
  });

  it('KIT-1: any Standard Schema will do; one that cannot be written down costs only itself', async () => {
    const warnings: string[] = [];
    const run = ({ n }: { n: number }): string => `${n} is even`;
    const server = defineServer({
      name: 'standard',
      warn: (warning) => warnings.push(warning),
      tools: [
        tool({ name: 'even', input: even(true), run }),
        tool({ name: 'silent', input: even(false), run }),
      ],
    });
    expect(await listed(server)).toEqual([
      { name: 'even', inputSchema: { type: 'object', properties: { n: { type: 'number', multipleOf: 2 } } } },
      { name: 'silent', inputSchema: { type: 'object', properties: {} } },
    ]);
    expect(warnings).toEqual([
      'A schema of the tool "silent" cannot be listed: A schema of another cannot be written as JSON Schema here',
    ]);
    expect(await called(server, 'silent', { n: 2 })).toEqual(text('2 is even'));
    expect(await called(server, 'silent', { n: 3 })).toEqual(
      text('Invalid arguments for silent: n: odd', true),
    );
  });

  it('KIT-1: zod 4 before ~standard.jsonSchema is written down by zod', async () => {
    const schema = z.object({ n: z.number() });
    const { jsonSchema: _newer, ...older } = schema['~standard'];
    const before = Object.create(schema, { '~standard': { value: older } }) as typeof schema;
    const server = defineServer({
      name: 'older',
      tools: [tool({ name: 'n', input: before, run: ({ n }) => n })],
    });
    expect(await listed(server)).toMatchObject([
      { inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
    ]);
  });

  // Protocol: 25-tools-13, 26-tools-31
  it('KIT-1: every return value of a handler has a form in the protocol', async () => {
    const image = { type: 'image', data: 'aaaa', mimeType: 'image/png' } as const;
    const returns: Record<string, unknown> = {
      string: 'text',
      number: 5,
      object: { a: 1 },
      list: [1, 2],
      nothing: undefined,
      block: image,
      blocks: [image, image],
      whole: { content: [image], isError: true, _meta: { x: 1 } },
    };
    const server = defineServer({
      name: 'returns',
      tools: Object.entries(returns).map(([name, value]) => tool({ name, run: () => value })),
    });
    const client = await connectInMemory(server, { era: 'legacy' });
    const results = await Promise.all(
      Object.keys(returns).map(async (name) => [name, await client.call(name)] as const),
    );
    await client.close();
    expect(Object.fromEntries(results)).toEqual({
      string: text('text'),
      number: text('5'),
      object: text('{"a":1}'),
      list: text('[1,2]'),
      nothing: { content: [] },
      block: { content: [image] },
      blocks: { content: [image, image] },
      whole: { content: [image], isError: true, _meta: { x: 1 } },
    });
  });

  // Protocol: 25-tools-14, 26-tools-32
  it('KIT-2: a result that does not fit its output schema is an error; one that failed need not fit', async () => {
    const output = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] } as const;
    const server = defineServer({
      name: 'outputs',
      tools: [
        tool({ name: 'wrong', output, run: () => ({ total: 1 }) as never }),
        tool({ name: 'failed', output, run: () => ({ content: [], isError: true }) }),
        tool({ name: 'whole', output, run: () => ({ content: [], structuredContent: { sum: 2 } }) }),
      ],
    });
    expect(await called(server, 'wrong')).toEqual(
      text('wrong returned a result that its output schema does not allow: sum is required', true),
    );
    expect(await called(server, 'failed')).toEqual({ content: [], isError: true });
    expect(await called(server, 'whole')).toEqual({ content: [], structuredContent: { sum: 2 } });
  });

  // Protocol: 25-tools-7, 25-tools-9, 25-tools-10, 25-tools-11, 26-tools-12, 26-tools-14, 26-tools-15, 26-tools-16
  it('KIT-1: names that clients dislike are warned about, the same name twice is an error', () => {
    const warnings: string[] = [];
    const named = (...names: string[]): Server =>
      defineServer({
        name: 'names',
        warn: (warning) => warnings.push(warning),
        tools: names.map((name) => tool({ name, run: () => '' })),
      });
    named('good_name-1.2', 'Bad', 'two words', 'x'.repeat(65), 'emoji😀');
    expect(warnings).toEqual([
      'The name of the tool "Bad" has uppercase letters: some clients refuse it.',
      'The name of the tool "two words" has spaces: some clients refuse it.',
      `The name of the tool "${'x'.repeat(65)}" is longer than 64 characters: some clients refuse it.`,
      'The name of the tool "emoji😀" has characters other than letters, digits, _, - and .: some clients refuse it.',
    ]);
    expect(() => named('twice', 'twice')).toThrow('There is already one of tools called "twice"');
  });

  it('KIT-1: the types of arguments and answers follow from the schemas', () => {
    tool({
      name: 'typed',
      input: {
        type: 'object',
        properties: {
          text: { type: 'string' },
          count: { type: 'integer' },
          mode: { enum: ['a', 'b'] },
          list: { type: 'array', items: { type: 'boolean' } },
        },
        required: ['text'],
      },
      output: z.object({ ok: z.boolean() }),
      run: ({ text: given, count, mode, list }) => {
        const exact: [string, number | undefined, 'a' | 'b' | undefined, readonly boolean[] | undefined] = [
          given,
          count,
          mode,
          list,
        ];
        return { ok: exact.length === 4 };
      },
    });
    // @ts-expect-error the answer does not fit the output schema
    tool({ name: 'wrong', output: z.object({ ok: z.boolean() }), run: () => ({ ok: 'yes' }) });
    // @ts-expect-error there is no such argument
    tool({ name: 'wrong', input: z.object({ a: z.string() }), run: ({ b }) => b });
  });
});

describe('at run time', () => {
  // Protocol: 25-tools-4, 26-tools-9
  it('KIT-1: an added tool is available, and clients of both eras are notified once', async () => {
    const server = defineServer({ name: 'grows', tools: [tool({ name: 'one', run: () => '1' })] });
    const talk = await talkTo(server);
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    talk.say(request(1, 'initialize', {}));
    await talk.atLeast(1);
    talk.say(request(2, 'subscriptions/listen', { notifications: { toolsListChanged: true }, _meta: meta }));
    await talk.atLeast(2);
    const remove = server.add(tool({ name: 'two', run: () => '2' }));
    server.add(tool({ name: 'three', run: () => '3' }));
    await talk.atLeast(4);
    talk.say(call(3, 'two'));
    expect((await talk.atLeast(5)).slice(2)).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/tools/list_changed',
        params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 2 } },
      },
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
      result(3, text('2')),
    ]);
    remove();
    remove();
    await talk.atLeast(7);
    talk.say(call(4, 'two'));
    expect((await talk.atLeast(8)).at(-1)).toEqual({
      jsonrpc: '2.0',
      id: 4,
      error: { code: -32602, message: 'There is no tool "two"' },
    });
    await talk.end();
  });
});

describe('resources and prompts', () => {
  const server = defineServer({
    name: 'content',
    resources: [
      resource({ uri: 'memo://about', name: 'About', mimeType: 'text/plain', read: () => 'A memo.' }),
      resource({ uri: 'memo://bytes', read: () => new Uint8Array([1, 2, 3]) }),
      resource({
        uri: 'memo://broken',
        read: () => {
          throw new Error('torn');
        },
      }),
      resourceTemplate({
        uriTemplate: 'memo://{folder}/{+path}',
        complete: { folder: (typed) => ['inbox', 'outbox'].filter((one) => one.startsWith(typed)) },
        read: ({ folder, path }) => `${folder}: ${path}`,
      }),
    ],
    prompts: [
      prompt({
        name: 'review',
        description: 'Reviews.',
        arguments: {
          language: { required: true, complete: (typed, known) => [`${typed}!`, known['style'] ?? 'none'] },
          style: { description: 'How' },
        },
        get: ({ language, style }) => `Review ${language} ${style ?? 'plainly'}`,
      }),
      prompt({ name: 'many', get: () => [{ role: 'assistant', content: { type: 'text', text: 'hi' } }] }),
    ],
  });

  // Protocol: 25-resources-1, 25-resources-9, 26-resources-2, 26-resources-15
  it('KIT-1: resources are listed and read: text, bytes, templates with slashes', async () => {
    const client = await connectInMemory(server, { era: 'legacy' });
    expect(client.capabilities).toEqual({
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
    });
    expect(await client.request('resources/list')).toEqual({
      resources: [
        { uri: 'memo://about', name: 'About', mimeType: 'text/plain' },
        { uri: 'memo://bytes', name: 'memo://bytes' },
        { uri: 'memo://broken', name: 'memo://broken' },
      ],
    });
    expect(await client.request('resources/templates/list')).toEqual({
      resourceTemplates: [{ uriTemplate: 'memo://{folder}/{+path}', name: 'memo://{folder}/{+path}' }],
    });
    expect(await client.read('memo://about')).toEqual([
      { uri: 'memo://about', mimeType: 'text/plain', text: 'A memo.' },
    ]);
    expect(await client.read('memo://bytes')).toEqual([{ uri: 'memo://bytes', blob: 'AQID' }]);
    expect(await client.read('memo://in%20box/a/b.txt')).toEqual([
      { uri: 'memo://in%20box/a/b.txt', text: 'in box: a/b.txt' },
    ]);
    await expect(client.read('memo://broken')).rejects.toMatchObject({
      detail: { rpcCode: -32000, rpcData: { error: 'torn' } },
    });
    await expect(client.read('other://x')).rejects.toMatchObject({
      detail: { rpcCode: -32002, rpcData: { uri: 'other://x' } },
    });
    await client.close();
    const modern = await connectInMemory(server);
    await expect(modern.read('other://x')).rejects.toMatchObject({ detail: { rpcCode: -32602 } });
    await modern.close();
  });

  it('KIT-1: subscribers are notified of changes until they unsubscribe', async () => {
    const client = await connectInMemory(server, { era: 'legacy' });
    await client.request('resources/subscribe', { uri: 'memo://about' });
    server.updated('memo://about');
    server.updated('memo://bytes');
    await client.request('resources/unsubscribe', { uri: 'memo://about' });
    server.updated('memo://about');
    await expect(client.request('resources/subscribe', { uri: 'other://x' })).rejects.toMatchObject({
      detail: { rpcCode: -32002 },
    });
    expect(client.notifications).toEqual([
      { method: 'notifications/resources/updated', params: { uri: 'memo://about' } },
    ]);
    await client.close();
  });

  // Protocol: 25-completion-1, 25-completion-2, 25-completion-3d, 25-completion-5a, 25-prompts-1, 25-prompts-6,
  // 25-prompts-7, 26-completion-2, 26-completion-3, 26-completion-4d, 26-completion-6a, 26-prompts-2, 26-prompts-9,
  // 26-prompts-10
  it('KIT-1: prompts are listed, filled in and completed; what is missing is −32602', async () => {
    const client = await connectInMemory(server, { era: 'legacy' });
    expect(await client.request('prompts/list')).toEqual({
      prompts: [
        {
          name: 'review',
          description: 'Reviews.',
          arguments: [
            { name: 'language', required: true },
            { name: 'style', description: 'How' },
          ],
        },
        { name: 'many', arguments: [] },
      ],
    });
    expect(await client.prompt('review', { language: 'rust' })).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'Review rust plainly' } }],
    });
    expect(await client.prompt('many')).toEqual({
      messages: [{ role: 'assistant', content: { type: 'text', text: 'hi' } }],
    });
    await expect(client.prompt('review')).rejects.toMatchObject({ detail: { rpcCode: -32602 } });
    await expect(client.prompt('none')).rejects.toMatchObject({ detail: { rpcCode: -32602 } });
    const ask = (ref: unknown, argument: unknown, context?: unknown): Promise<unknown> =>
      client.request('completion/complete', { ref, argument, ...(context === undefined ? {} : { context }) });
    expect(
      await ask(
        { type: 'ref/prompt', name: 'review' },
        { name: 'language', value: 'ru' },
        { arguments: { style: 'kind' } },
      ),
    ).toEqual({ completion: { values: ['ru!', 'kind'], total: 2, hasMore: false } });
    expect(
      await ask({ type: 'ref/resource', uri: 'memo://{folder}/{+path}' }, { name: 'folder', value: 'in' }),
    ).toEqual({ completion: { values: ['inbox'], total: 1, hasMore: false } });
    expect(await ask({ type: 'ref/prompt', name: 'review' }, { name: '__proto__', value: '' })).toEqual({
      completion: { values: [], total: 0, hasMore: false },
    });
    await client.close();
  });

  // Protocol: 25-resources-7, 26-resources-13
  it('KIT-1: a template that cannot be matched safely is refused when it is made', () => {
    for (const uriTemplate of ['memo://{a}{b}', 'memo://none', 'memo://{?q}', 'memo://{a']) {
      const template = resourceTemplate({ uriTemplate, read: () => '' });
      expect(() => defineServer({ name: 'x', resources: [template] })).toThrow('is not a template');
    }
  });
});
