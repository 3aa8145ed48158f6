import { afterEach, describe, expect, it } from 'vitest';
import { type Exchange, fakeClock } from '../../src/testing/index.ts';
import { legacySession, modern, post } from '../serve/bare-client.ts';
import {
  CALLING_TOKEN,
  type ManagedGateway,
  type ManagedGatewayOptions,
  openManagedGateway,
  readEvents,
  TOKEN,
} from '../world/managed-gateway.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
async function setUp(options?: ManagedGatewayOptions): Promise<ManagedGateway> {
  const world = await openManagedGateway(options);
  open.push(world);
  return world;
}

const ask = { permissions: { ask: ['mcp__small__write'] } };
const write = { tools: { write: () => 'written' } };
const form = {
  mode: 'form',
  message: 'Who are you?',
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
    required: ['name'],
  },
};
const asks = {
  tools: {
    hello: async (_: unknown, { request }: Exchange) => {
      const answer = await request('elicitation/create', form);
      return JSON.stringify(answer);
    },
  },
  eras: 'legacy',
} as const;

interface Waiting {
  readonly id: string;
  readonly kind: string;
}

/** The questions that wait, as soon as there are any. */
async function waiting({ api }: ManagedGateway): Promise<readonly Waiting[]> {
  let seen: readonly Waiting[] = [];
  await expect
    .poll(async () => {
      seen = ((await api('GET', '/api/approvals')).body as { approvals: Waiting[] }).approvals;
      return seen.length;
    })
    .toBeGreaterThan(0);
  return seen;
}

describe('SRV-5: questions of calls over the API', () => {
  it.each([
    ['allow', 200, { isError: false }],
    ['deny', 403, { error: { code: 'DENIED' } }],
    ['cancel', 409, { error: { code: 'CANCELLED' } }],
  ])('an approval waits until it is answered: %s', async (answer, status, body) => {
    const world = await setUp({ script: write, config: ask });
    const call = world.api('POST', '/api/call', { name: 'mcp__small__write', arguments: { path: 'a' } });
    const [question] = await waiting(world);
    expect(question).toEqual({
      id: 'q1',
      kind: 'approval',
      server: 'small',
      tool: 'write',
      name: 'mcp__small__write',
      call: 'c1',
      arguments: { path: 'a' },
      reason: expect.any(String),
      askRule: 'mcp__small__write',
      destructive: false,
      rule: 'mcp__small__write',
      ruleIn: 'permissions.allow',
      suggestions: ['mcp__small__write', 'mcp__small__write(path="a")'],
      session: 's1',
      at: expect.any(Number),
      until: expect.any(Number),
    });
    const wrong = await world.api('POST', '/api/approvals/q1', { answer: 'accept' });
    const right = await world.api('POST', '/api/approvals/q1', { answer });
    const twice = await world.api('POST', '/api/approvals/q1', { answer });
    expect([wrong.status, right.status, right.body, twice.status]).toEqual([
      400,
      200,
      { id: 'q1', answer },
      404,
    ]);
    expect([(await call).status, (await call).body]).toMatchObject([status, body]);
    expect((await world.api('GET', '/api/approvals')).body).toEqual({ approvals: [] });
  });

  it('allow-session holds for the next call; allow-always is written down unless a rule asks', async () => {
    const world = await setUp({ script: write, config: ask });
    const name = 'mcp__small__write';
    const first = world.api('POST', '/api/call', { name });
    await waiting(world);
    await world.api('POST', '/api/approvals/q1', { answer: 'allow-session' });
    expect([(await first).status, (await world.api('POST', '/api/call', { name })).status]).toEqual([
      200, 200,
    ]);
    const prompt = { defaults: { approval: 'prompt' } };
    for (const { config, written } of [
      { config: ask, written: ask },
      { config: prompt, written: { ...prompt, permissions: { allow: [name] } } },
    ]) {
      const other = await setUp({ script: write, config });
      const second = other.api('POST', '/api/call', { name });
      await waiting(other);
      await other.api('POST', '/api/approvals/q1', { answer: 'allow-always' });
      expect((await second).status).toBe(200);
      expect((await other.api('POST', '/api/call', { name })).status).toBe(200);
      expect(other.readConfig()).toEqual(written);
    }
  });

  it('a form is checked before it is taken', async () => {
    const world = await setUp({ script: asks });
    const call = world.api('POST', '/api/call', { name: 'mcp__small__hello' });
    const [question] = await waiting(world);
    expect(question).toMatchObject({
      kind: 'elicitation',
      mode: 'form',
      message: 'Who are you?',
      server: 'small',
    });
    const answer = (content: unknown): Promise<{ status: number; body: unknown }> =>
      world.api('POST', `/api/approvals/${question?.id}`, { answer: 'accept', content });
    const wrong = await answer({ age: -1 });
    expect([wrong.status, wrong.body]).toMatchObject([
      400,
      { error: { code: 'INVALID_ARGUMENTS', message: expect.stringContaining('name is required') } },
    ]);
    expect((await answer({ name: 'Ada', age: 36 })).status).toBe(200);
    expect((await call).body).toMatchObject({
      content: [{ text: '{"action":"accept","content":{"name":"Ada","age":36}}' }],
    });
  });

  // Protocol: 25-sampling-1, 25-sampling-2a, 25-sampling-2c, 25-sampling-12, 26-sampling-3, 26-sampling-4a,
  // 26-sampling-4c
  it('a completion can be given by hand, or refused', async () => {
    const params = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10 };
    const world = await setUp({
      script: {
        eras: 'legacy',
        tools: {
          think: async (_, { request }) =>
            JSON.stringify(
              await request('sampling/createMessage', params).catch(
                ({ code, message }) => `${code} ${message}`,
              ),
            ),
        },
      },
    });
    const completion = { role: 'assistant', model: 'a person', content: { type: 'text', text: 'Hello' } };
    const results: unknown[] = [];
    for (const answer of [{ answer: 'accept', content: completion }, { answer: 'decline' }]) {
      const call = world.api('POST', '/api/call', { name: 'mcp__small__think' });
      const [question] = await waiting(world);
      expect(question).toMatchObject({ kind: 'sampling', params });
      const wrong = await world.api('POST', `/api/approvals/${question?.id}`, {
        answer: 'accept',
        content: {},
      });
      const right = await world.api('POST', `/api/approvals/${question?.id}`, answer);
      expect([wrong.status, right.status]).toEqual([400, 200]);
      results.push(((await call).body as { content: { text: string }[] }).content[0]?.text);
    }
    expect(results).toEqual([
      JSON.stringify(completion),
      expect.stringContaining('-1 No one provided a completion'),
    ]);
  });

  it('a question waits for five minutes at most, and ends with its call', async () => {
    const clock = fakeClock();
    const world = await setUp({ script: write, config: ask, serve: { clock } });
    const late = world.api('POST', '/api/call', { name: 'mcp__small__write' });
    await waiting(world);
    await clock.advance(300_000);
    expect([(await late).status, (await late).body]).toMatchObject([
      403,
      { error: { code: 'APPROVAL_REQUIRED', hint: expect.stringContaining('remove or narrow the rule') } },
    ]);
    const stop = new AbortController();
    const given = fetch(`${world.origin}/api/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'mcp__small__write' }),
      signal: stop.signal,
    }).catch(() => 'given up');
    await waiting(world);
    stop.abort();
    expect(await given).toBe('given up');
    await expect.poll(async () => (await world.api('GET', '/api/approvals')).body).toEqual({ approvals: [] });
  });

  it('a gateway that closes waits for no answer', async () => {
    const world = await setUp({ script: write, config: ask });
    const call = world.api('POST', '/api/call', { name: 'mcp__small__write' }).catch(() => 'cut off');
    await waiting(world);
    await world.served.close();
    expect(await call).toBeDefined();
  });
});

describe('SRV-2: questions of gateway clients that cannot ask their own user', () => {
  const headers = { authorization: `Bearer ${CALLING_TOKEN}` };

  it('are refused while no one looks at the page, without the rule to change, which is not for models', async () => {
    const { served } = await setUp({ script: write, config: ask });
    const { messages } = await modern(served.url, 1, 'tools/call', { name: 'small__write' }, {}, headers);
    expect(messages).toMatchObject([
      {
        result: {
          isError: true,
          content: [{ text: expect.stringMatching(/the page is not open\. Only the user can allow it/) }],
          _meta: { 'plugboard/code': 'APPROVAL_REQUIRED' },
        },
      },
    ]);
  });

  it('go to the page while a client reads its events', async () => {
    const world = await setUp({ script: write, config: ask });
    const reader = await readEvents(world);
    open.push(reader);
    const call = modern(world.served.url, 1, 'tools/call', { name: 'small__write' }, {}, headers);
    const { data } = await reader.next(({ event }) => event === 'question');
    const { id } = data as { id: string };
    expect((await world.api('POST', `/api/approvals/${id}`, { answer: 'allow' })).status).toBe(200);
    expect((await call).messages).toMatchObject([{ result: { content: [{ text: 'written' }] } }]);
    const told = await reader.next(({ event }) => event === 'answer');
    expect(told.data).toEqual({ id, kind: 'approval', answer: 'allow' });
  });

  it('elicitations too, of a client in the legacy era', async () => {
    const world = await setUp({ script: asks });
    const reader = await readEvents(world);
    open.push(reader);
    const session = await legacySession(world.served.url, '2025-06-18', {}, headers);
    const params = { name: 'small__hello' };
    const call = post(world.served.url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, session);
    const { data } = await reader.next(({ event }) => event === 'question');
    const { id } = data as { id: string };
    await world.api('POST', `/api/approvals/${id}`, { answer: 'accept', content: { name: 'Ada' } });
    expect(JSON.stringify((await call).messages)).toContain('Ada');
  });

  it('end soon after the page was closed, and new ones are refused at once', async () => {
    const clock = fakeClock();
    const world = await setUp({ script: write, config: ask, serve: { clock } });
    const reader = await readEvents(world);
    open.push(reader);
    const call = () => modern(world.served.url, 1, 'tools/call', { name: 'small__write' }, {}, headers);
    const refused = [{ result: { _meta: { 'plugboard/code': 'APPROVAL_REQUIRED' } } }];
    const first = call();
    await reader.next(({ event }) => event === 'question');
    // The page looks at the list, too: that is no sign that it comes back.
    await waiting(world);
    await clock.advance(60_000);
    expect((await waiting(world)).length).toBe(1);
    reader.close();
    let isOver = false;
    void first.finally(() => {
      isOver = true;
    });
    await expect.poll(() => clock.advance(5_000).then(() => isOver)).toBe(true);
    expect([(await first).messages, (await call()).messages]).toMatchObject([refused, refused]);
  });

  it('are refused again when the last reader has gone', async () => {
    const world = await setUp({ script: write, config: ask });
    const reader = await readEvents(world);
    reader.close();
    const refused = async (): Promise<unknown> => {
      const call = modern(world.served.url, 1, 'tools/call', { name: 'small__write' }, {}, headers);
      return (await call).messages;
    };
    await expect
      .poll(refused)
      .toMatchObject([{ result: { _meta: { 'plugboard/code': 'APPROVAL_REQUIRED' } } }]);
  });
});
