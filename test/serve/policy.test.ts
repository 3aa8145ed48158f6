import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { serveHttp } from '../../src/serve/index.ts';
import { createGate, type Exchange, type ScriptedServerOptions } from '../../src/testing/index.ts';
import { modern } from './bare-client.ts';
import { type Answer, LineClient, MODERN } from './line-client.ts';
import { type SmallHost, smallHost } from './small-host.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function hosted(
  script: ScriptedServerOptions,
  config: object = {},
  options: object = {},
): Promise<SmallHost> {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-serve-'));
  await writeFile(join(home, 'config.json'), JSON.stringify(config));
  const small = await smallHost(script, { home, ...options });
  closers.push(() => rm(home, { recursive: true, force: true }), small.close);
  return small;
}

async function connected(
  { host }: SmallHost,
  version: string,
  answer: Answer = () => ({ action: 'decline' }),
  capabilities: Record<string, unknown> = { elicitation: {} },
  approvals?: 'enforce',
): Promise<LineClient> {
  const client = new LineClient(host, version, capabilities, answer, { approvals });
  closers.push(() => client.leave());
  await client.open();
  return client;
}

const call = (client: LineClient, name: string, args: object = {}): Promise<Record<string, unknown>> =>
  client.request('tools/call', { name, arguments: args });

describe('SRV-2: approvals of gateway clients', () => {
  const script = { tools: { write: () => 'written' } };
  const rule = { permissions: { ask: ['mcp__small__write'] } };

  it.each(['2025-06-18', MODERN])('an ask rule is put to a client of %s by elicitation', async (version) => {
    const asked: unknown[] = [];
    const answers = ['Deny', 'Allow for this session'];
    const client = await connected(await hosted(script, rule), version, (method, params) => {
      asked.push([method, params['message']]);
      return { action: 'accept', content: { answer: answers.shift() } };
    });
    const results = [
      await call(client, 'small__write'),
      await call(client, 'small__write', { path: 'a' }),
      await call(client, 'small__write'),
    ];
    expect(results.map(({ isError, content }) => [isError, content])).toMatchObject([
      [true, [{ text: expect.stringContaining('small__write was not called') }]],
      [false, [{ text: 'written' }]],
      [false, [{ text: 'written' }]],
    ]);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toEqual(['elicitation/create', expect.stringContaining('{"path":"a"}')]);
  });

  it('a client that cannot be asked is refused; its log has the rule to change, its model does not', async () => {
    const small = await hosted(script, rule);
    const logged: string[] = [];
    small.host.on('log', ({ message }) => void logged.push(message));
    const client = await connected(small, '2024-11-05', undefined, {});
    expect(await call(client, 'small__write')).toEqual({
      content: [{ type: 'text', text: expect.not.stringMatching(/permissions|config\.json/) }],
      isError: true,
      _meta: { 'plugboard/code': 'APPROVAL_REQUIRED' },
    });
    expect(logged).toEqual([expect.stringMatching(/\. To allow it, remove or narrow the rule "/)]);
  });

  it('without rules calls pass, because the agent asks its own user; enforce makes approval hold here too', async () => {
    const small = await hosted(script);
    const trusting = await connected(small, '2025-11-25', undefined, {});
    const strict = await connected(small, '2025-11-25', undefined, {}, 'enforce');
    const results = [await call(trusting, 'small__write'), await call(strict, 'small__write')];
    expect(results.map(({ isError }) => isError)).toEqual([false, true]);
  });

  it('deny refuses always, and what is allowed for one session is asked about in another', async () => {
    const small = await hosted(script, rule);
    let asked = 0;
    const allow: Answer = () => {
      asked += 1;
      return { action: 'accept', content: { answer: 'Allow for this session' } };
    };
    for (const client of [
      await connected(small, '2025-11-25', allow),
      await connected(small, '2025-11-25', allow),
    ]) {
      await call(client, 'small__write');
      await call(client, 'small__write');
    }
    expect(asked).toBe(2);
  });
});

describe('SRV-2: limits of gateway clients', () => {
  // Protocol: 25-resources-8, 26-resources-14
  it('a result that is too long is offered whole as a resource, to its owner only', async () => {
    const long = 'word '.repeat(60_000);
    const small = await hosted({ tools: { long: () => long } });
    const client = await connected(small, '2025-11-25');
    const { content } = await call(client, 'small__long');
    const blocks = content as { type: string; uri?: string; text?: string }[];
    const link = blocks.find(({ type }) => type === 'resource_link');
    const read = await client.request('resources/read', { uri: link?.uri });
    expect(read).toEqual({ contents: [{ uri: link?.uri, mimeType: 'text/plain', text: long }] });
    const gateway = await serveHttp(small.host, { port: 0 });
    closers.push(gateway.close);
    const { messages } = await modern(gateway.url, 1, 'resources/read', { uri: link?.uri });
    expect(messages[0]?.['error']).toMatchObject({ code: -32602 });
  });
});

describe('A7: nothing of one client reaches another', () => {
  // Protocol: 25-elicitation-31, 26-elicitation-24
  it('F64: a legacy server that is called by two clients at once asks each about its own call', async () => {
    const both = createGate();
    let begun = 0;
    const small = await hosted({
      eras: 'legacy',
      tools: {
        ask: async (_, exchange: Exchange) => {
          begun += 1;
          if (begun === 2) both.open();
          await both.opened;
          const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
          return JSON.stringify(await exchange.request('elicitation/create', params));
        },
      },
    });
    const answer: Answer = () => ({ action: 'accept', content: {} });
    const gateway = await serveHttp(small.host, { port: 0 });
    closers.push(gateway.close);
    const one = await connected(small, '2025-11-25', answer);
    const [mine, theirs] = await Promise.all([
      call(one, 'small__ask'),
      modern(gateway.url, 1, 'tools/call', { name: 'small__ask' }, { elicitation: {} }),
    ]);
    expect([(mine['content'] as { text: string }[])[0]?.text, theirs.messages.at(-1)?.['result']]).toEqual([
      '{"action":"accept","content":{}}',
      expect.objectContaining({ resultType: 'input_required' }),
    ]);
  });

  // Protocol: 26-base-29, 26-mrtr-9, 26-mrtr-10, 26-mrtr-11
  it('the state of a modern request lets one call happen, for the same request only; sent again, it gets that result', async () => {
    let calls = 0;
    const small = await hosted({
      eras: 'legacy',
      tools: {
        ask: async (_, exchange: Exchange) => {
          calls += 1;
          const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
          return JSON.stringify(await exchange.request('elicitation/create', params));
        },
        other: () => 'other',
      },
    });
    const gateway = await serveHttp(small.host, { port: 0 });
    closers.push(gateway.close);
    const go = async (id: number, params: Record<string, unknown>): Promise<Record<string, unknown>> =>
      (await modern(gateway.url, id, 'tools/call', params, { elicitation: {} })).messages.at(-1) ?? {};
    const first = (await go(1, { name: 'small__ask' }))['result'] as Record<string, unknown>;
    const [key = ''] = Object.keys(first['inputRequests'] as object);
    const { requestState } = first;
    const inputResponses = { [key]: { action: 'accept', content: {} } };
    const wrongTool = await go(2, { name: 'small__other', inputResponses, requestState });
    const tampered = await go(3, {
      name: 'small__ask',
      inputResponses,
      requestState: `${requestState}x`,
    });
    const right = await go(4, { name: 'small__ask', inputResponses, requestState });
    const declined = { [key]: { action: 'decline' } };
    const again = await go(5, { name: 'small__ask', inputResponses: declined, requestState });
    expect([first['resultType'], wrongTool['error'], tampered['error']]).toMatchObject([
      'input_required',
      { code: -32602 },
      { code: -32602 },
    ]);
    expect([again['result'], calls]).toEqual([right['result'], 1]);
    expect(right['result']).toMatchObject({
      resultType: 'complete',
      content: [{ type: 'text', text: '{"action":"accept","content":{}}' }],
    });
  });
});
