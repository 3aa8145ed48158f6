import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createHost,
  type ElicitRequest,
  type Host,
  type HostEvents,
  type SampleRequest,
} from '../../src/index.ts';
import { text } from '../world/content.ts';
import { scratch } from '../world/scripted-host.ts';
import { until } from '../world/until.ts';

/** Filled by scripts/install-real-servers.mjs, with pinned versions. */
const EVERYTHING = fileURLToPath(
  new URL(
    '../../.cache/real-servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js',
    import.meta.url,
  ),
);
const START_MS = 60_000;

let host: Host;
const elicited: ElicitRequest[] = [];
const sampled: SampleRequest[] = [];
const opened: string[] = [];
const logs: HostEvents['log'][] = [];
let answer: Record<string, unknown> = {};

beforeAll(async () => {
  const dir = scratch();
  host = await createHost({
    home: join(dir, 'home'),
    cwd: dir,
    watch: false,
    toolSearch: false,
    approve: () => 'allow',
    elicit: (request) => {
      elicited.push(request);
      return { action: 'accept', content: answer };
    },
    sample: (request) => {
      sampled.push(request);
      return { role: 'assistant', model: 'scripted', content: text('Four.'), stopReason: 'endTurn' };
    },
    roots: [{ uri: 'file:///project', name: 'project' }],
    openUrl: (url) => void opened.push(url),
    servers: { e: { command: process.execPath, args: [EVERYTHING, 'stdio'], startupTimeoutMs: START_MS } },
  });
  host.on('log', (log) => logs.push(log));
  await host.ready();
  await until('the later tools are listed', () =>
    host.tools().some(({ tool }) => tool === 'simulate-research-query'),
  );
});
afterAll(() => host.close());

async function textFrom(tool: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await host.call(`mcp__e__${tool}`, args);
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n');
}

describe('every tool of server-everything, through the product', () => {
  it('is one of those that are used here', () => {
    expect(host.tools().map(({ tool }) => tool)).toEqual([
      'echo',
      'get-annotated-message',
      'get-env',
      'get-resource-links',
      'get-resource-reference',
      'get-roots-list',
      'get-structured-content',
      'get-sum',
      'get-tiny-image',
      'gzip-file-as-resource',
      'simulate-research-query',
      'toggle-simulated-logging',
      'toggle-subscriber-updates',
      'trigger-elicitation-request',
      'trigger-long-running-operation',
      'trigger-sampling-request',
      'trigger-url-elicitation',
    ]);
  });

  it('text, numbers, the environment it was given', async () => {
    expect(await textFrom('echo', { message: 'hi' })).toBe('Echo: hi');
    expect(await textFrom('get-sum', { a: 2, b: 3 })).toBe('The sum of 2 and 3 is 5.');
    expect(JSON.parse(await textFrom('get-env'))).toHaveProperty('PATH');
    await expect(host.call('mcp__e__get-sum', { a: 'two', b: 3 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: 'mcp__e__get-sum was not called: a must be a number',
    });
  });

  it('an image, annotated messages, links, embedded resources', async () => {
    const { content: image } = await host.call('mcp__e__get-tiny-image');
    expect(image.map(({ type }) => type)).toEqual(['text', 'image', 'text']);
    const { content: annotated } = await host.call('mcp__e__get-annotated-message', {
      messageType: 'error',
      includeImage: true,
    });
    expect(annotated.map(({ type, annotations }) => [type, annotations])).toEqual([
      ['text', { priority: 1, audience: ['user', 'assistant'] }],
      ['image', { priority: 0.5, audience: ['user'] }],
    ]);
    const { content: links } = await host.call('mcp__e__get-resource-links', { count: 3 });
    expect(links.map(({ type }) => type)).toEqual([
      'text',
      'resource_link',
      'resource_link',
      'resource_link',
    ]);
    const { content: reference } = await host.call('mcp__e__get-resource-reference', {
      resourceType: 'Text',
      resourceId: 1,
    });
    expect(reference.map(({ type }) => type)).toEqual(['text', 'resource', 'text']);
    const { content: zipped } = await host.call('mcp__e__gzip-file-as-resource', {
      name: 'a.gz',
      data: 'data:text/plain;base64,aGVsbG8=',
      outputType: 'resource',
    });
    expect(zipped.map(({ type }) => type)).toEqual(['resource']);
  });

  it('structured output', async () => {
    const { structuredContent, content } = await host.call('mcp__e__get-structured-content', {
      location: 'Chicago',
    });
    expect(structuredContent).toEqual({ temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 });
    expect(content).toEqual([text(JSON.stringify(structuredContent))]);
  });

  it('a long-running operation with progress', async () => {
    const progress: unknown[] = [];
    await host.call(
      'mcp__e__trigger-long-running-operation',
      { duration: 0.3, steps: 3 },
      { onProgress: (step) => progress.push(step) },
    );
    expect(progress).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 3 })));
  });

  // Protocol: 25-elicitation-52, 26-elicitation-44
  it('elicitation with every kind of field', async () => {
    answer = {
      name: 'Ada',
      check: true,
      email: 'ada@example.com',
      homepage: 'https://example.com',
      birthdate: '1815-12-10',
      integer: 7,
      number: 3.5,
      untitledSingleSelectEnum: 'Monica',
      untitledMultipleSelectEnum: ['Piano'],
    };
    const said = await textFrom('trigger-elicitation-request');
    const { schema } = elicited.at(-1) ?? expect.fail('nobody was asked');
    expect(said).toContain('Ada');
    expect(JSON.stringify(schema)).toContain('"title"');
    expect(logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('A17: an address, with its host, opened after a yes; also when it comes as an error', async () => {
    const said = await textFrom('trigger-url-elicitation', { url: 'https://example.com/x' });
    expect(said).toContain('User completed');
    expect(elicited.at(-1)).toMatchObject({ mode: 'url', url: 'https://example.com/x', host: 'example.com' });
    await textFrom('trigger-url-elicitation', { url: 'https://example.com/y', errorPath: true });
    expect(opened).toEqual([
      'https://example.com/x',
      'https://modelcontextprotocol.io/',
      'https://example.com/y',
    ]);
  });

  it('sampling, answered by a scripted model', async () => {
    expect(await textFrom('trigger-sampling-request', { prompt: 'Two and two?', maxTokens: 50 })).toContain(
      'Four.',
    );
    expect(sampled.at(-1)).toMatchObject({ server: 'e', session: 'host', params: { maxTokens: 50 } });
  });

  it('roots', async () => {
    expect(await textFrom('get-roots-list')).toContain('file:///project');
  });

  it('a tool that is a task, with its words as progress', async () => {
    const progress: (string | undefined)[] = [];
    const { content } = await host.call(
      'mcp__e__simulate-research-query',
      { topic: 'bees' },
      { onProgress: ({ message }) => progress.push(message) },
    );
    expect(content[0]).toMatchObject({ text: expect.stringContaining('# Research Report: bees') });
    expect(progress.length).toBeGreaterThan(1);
  });

  it('a task that has to ask', async () => {
    answer = { interpretation: 'snake' };
    expect(await textFrom('simulate-research-query', { topic: 'python', ambiguous: true })).toContain(
      '# Research Report: python (snake)',
    );
  });

  it('simulated logging and updates, switched on and off', async () => {
    const before = logs.length;
    expect(await textFrom('toggle-simulated-logging')).toContain('Started');
    await until('the server logs', () => logs.length > before);
    expect(await textFrom('toggle-simulated-logging')).toContain('Stopped');
    expect(await textFrom('toggle-subscriber-updates')).toContain('Started');
    expect(await textFrom('toggle-subscriber-updates')).toContain('Stopped');
  });

  it('CAT-9: every resource that it lists can be read, and a template fills in', async () => {
    const { resources, templates } = await host.resources();
    expect(resources.length).toBeGreaterThan(0);
    for (const { server, uri } of resources) {
      const { contents } = await host.read(server, uri);
      expect(contents.map((each) => each.uri)).toContain(uri);
    }
    expect(templates.length).toBeGreaterThan(0);
    const filled = templates.map(({ uriTemplate }) => uriTemplate.replace(/\{[^}]*\}/g, '1'));
    for (const uri of filled) expect((await host.read('e', uri)).contents).toHaveLength(1);
  });

  it('CAT-10: every prompt that it lists is available', async () => {
    const prompts = await host.prompts();
    expect(prompts.length).toBeGreaterThan(0);
    for (const { server, name, arguments: wanted = [] } of prompts) {
      const completed = await Promise.all(
        wanted.map(async (argument): Promise<[string, string]> => {
          const { values } = await host.complete(
            { server, type: 'ref/prompt', name },
            { name: argument.name, value: '' },
          );
          return [argument.name, values[0] ?? '1'];
        }),
      );
      const { messages } = await host.prompt(server, name, Object.fromEntries(completed));
      expect(messages.length).toBeGreaterThan(0);
    }
  });
});
