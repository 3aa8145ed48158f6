/** Questions with their asker and rule, previews of rules, and rules over the management API. */

import { afterEach, describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/testing/index.ts';
import { legacySession, modern, post } from '../serve/bare-client.ts';
import {
  CALLING_TOKEN,
  type ManagedGateway,
  type ManagedGatewayOptions,
  openManagedGateway,
  readEvents,
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

const headers = { authorization: `Bearer ${CALLING_TOKEN}` };
const prompt = { defaults: { approval: 'prompt' } };
const script = {
  tools: {
    write: () => 'written',
    delete_all: () => 'deleted',
    hint: { annotations: { destructiveHint: true }, run: () => 'x' },
    read: { annotations: { readOnlyHint: true }, run: () => 'read' },
  },
} as const;
const asks = {
  tools: {
    hello: async (_: unknown, { request }: Exchange) =>
      JSON.stringify(
        await request('elicitation/create', {
          mode: 'form',
          message: 'Who?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        }),
      ),
  },
  eras: 'legacy',
} as const;

interface Question {
  readonly id: string;
  readonly [more: string]: unknown;
}

async function questions({ api }: ManagedGateway): Promise<readonly Question[]> {
  return ((await api('GET', '/api/approvals')).body as { approvals: Question[] }).approvals;
}

async function firstQuestion(world: ManagedGateway): Promise<Question> {
  await expect.poll(async () => (await questions(world)).length).toBeGreaterThan(0);
  const [question] = await questions(world);
  if (question === undefined) throw new Error('no question waits');
  return question;
}

describe('UI-6: a question', () => {
  it('has its agent, client, tool and call, in the list and in the event', async () => {
    const world = await setUp({ script, config: prompt });
    const reader = await readEvents(world);
    open.push(reader);
    const call = modern(world.served.url, 1, 'tools/call', { name: 'small__write' }, {}, headers);
    const { data } = await reader.next(({ event }) => event === 'question');
    const question = await firstQuestion(world);
    const facts = {
      kind: 'approval',
      client: 'token',
      agent: { name: expect.any(String), version: expect.any(String) },
      tool: 'write',
      rule: 'mcp__small__write',
      call: expect.any(String),
    };
    expect(question).toMatchObject(facts);
    expect(data).toMatchObject({ id: question.id, ...facts });
    await world.api('POST', `/api/approvals/${question.id}`, { answer: 'deny' });
    await call;
  });

  it.each([
    ['write', false],
    ['delete_all', true],
    ['hint', true],
    ['read', false],
  ])('about %s is destructive: %s', async (tool, destructive) => {
    const world = await setUp({ script, config: prompt });
    const call = world.api('POST', '/api/call', { name: `small__${tool}` });
    const question = await firstQuestion(world);
    expect(question['destructive']).toBe(destructive);
    await world.api('POST', `/api/approvals/${question.id}`, { answer: 'deny' });
    await call;
  });

  it('M2: an elicitation names its tool, and ends with the call and with its client', async () => {
    const world = await setUp({ script: asks });
    const reader = await readEvents(world);
    open.push(reader);
    const started = await world.api('POST', '/api/call', { name: 'small__hello', wait: false });
    expect(await firstQuestion(world)).toMatchObject({ kind: 'elicitation', tool: 'hello' });
    await world.api('POST', `/api/calls/${(started.body as { id: string }).id}/cancel`);
    await expect.poll(() => questions(world)).toEqual([]);

    const session = await legacySession(world.served.url, '2025-06-18', {}, headers);
    const params = { name: 'small__hello' };
    const call = post(
      world.served.url,
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      session,
    ).catch(() => {});
    await firstQuestion(world);
    const ended = await fetch(world.served.url, { method: 'DELETE', headers: session });
    expect(ended.status).toBeLessThan(300);
    await expect.poll(() => questions(world)).toEqual([]);
    await call;
  });

  it('"always" writes the edited rule and allows the call; an invalid one is refused with its place', async () => {
    const world = await setUp({ script, config: prompt });
    const args = { path: '/srv/data/a.txt' };
    const call = world.api('POST', '/api/call', { name: 'small__write', arguments: args });
    const { id, suggestions } = await firstQuestion(world);
    expect(suggestions).toEqual([
      'mcp__small__write',
      'mcp__small__write(path="/srv/data/**")',
      'mcp__small__write(path="/srv/data/a.txt")',
    ]);
    const answer = (rule: string): ReturnType<typeof world.api> =>
      world.api('POST', `/api/approvals/${id}`, { answer: 'allow-always', rule });
    const [broken, other, unlike] = [
      await answer('mcp__small__write(path='),
      await answer('mcp__small__read'),
      await answer('mcp__small__write(path=/etc/**)'),
    ];
    expect([broken.status, other.status, unlike.status]).toEqual([400, 400, 400]);
    expect(broken.body).toMatchObject({ error: { code: 'CONFIG_INVALID', at: expect.any(Number) } });
    expect(world.readConfig()).toEqual(prompt);
    const rule = 'mcp__small__write(path=/srv/data/**)';
    expect((await answer(rule)).status).toBe(200);
    expect((await call).status).toBe(200);
    expect(world.readConfig()).toEqual({ ...prompt, permissions: { allow: [rule] } });
    const again = await world.api('POST', '/api/call', { name: 'small__write', arguments: args });
    expect(again.status).toBe(200);
    const elsewhere = world.api('POST', '/api/call', { name: 'small__write', arguments: { path: '/etc/x' } });
    await world.api('POST', `/api/approvals/${(await firstQuestion(world)).id}`, { answer: 'deny' });
    expect((await elsewhere).status).toBe(403);
  });

  it('a rule under a stronger one is refused', async () => {
    const world = await setUp({ script, config: { permissions: { ask: ['small__write'] } } });
    const call = world.api('POST', '/api/call', { name: 'small__write', arguments: { path: 'a' } });
    const { id } = await firstQuestion(world);
    const rule = 'mcp__small__write(path=a)';
    const preview = await world.api('POST', '/api/rules/preview', { rule, question: id });
    expect(preview.body).toMatchObject({
      isThisCall: true,
      stronger: [{ list: 'ask', rule: 'small__write' }],
    });
    const answer = await world.api('POST', `/api/approvals/${id}`, { answer: 'allow-always', rule });
    expect(answer.status).toBe(400);
    await world.api('POST', `/api/approvals/${id}`, { answer: 'deny' });
    await call;
  });
});

describe('UI-6: rules', () => {
  it('a preview has the tools, the conditions and the place of a mistake', async () => {
    const world = await setUp({ script, config: { ...prompt, permissions: { allow: ['small__read'] } } });
    const call = world.api('POST', '/api/call', { name: 'small__write', arguments: { path: '/a/b' } });
    const { id } = await firstQuestion(world);
    const preview = async (rule: string, more: object = {}): Promise<unknown> =>
      (await world.api('POST', '/api/rules/preview', { rule, ...more })).body;
    expect(await preview('small__*', { question: id })).toEqual({
      valid: true,
      rule: 'small__*',
      name: 'small__*',
      conditions: [],
      tools: [
        ['delete_all', true, false],
        ['hint', true, false],
        ['read', false, true],
        ['write', false, false],
      ].map(([tool, destructive, alreadyAllowed]) => ({
        name: `mcp__small__${tool}`,
        server: 'small',
        tool,
        destructive,
        alreadyAllowed,
      })),
      more: 0,
      isThisCall: true,
    });
    expect(await preview('small__write(path=/a/**, force!=true)', { question: id })).toMatchObject({
      onlyWith: 'path=/a/**, force!=true',
      conditions: [
        { argument: 'path', operator: '=', kind: 'path', pattern: '/a/**' },
        { argument: 'force', operator: '!=', kind: 'text', pattern: 'true' },
      ],
      tools: [{ tool: 'write' }],
      isThisCall: false,
    });
    expect(await preview('small__write(path>1)')).toEqual({
      valid: false,
      fault: { message: expect.any(String), hint: expect.any(String), at: expect.any(Number) },
    });
    await world.api('POST', `/api/approvals/${id}`, { answer: 'deny' });
    await call;
  });

  it('are listed with their owner, added to a list and removed from it', async () => {
    const profiles = { careful: { rules: { deny: ['small__delete*'] } } };
    const world = await setUp({ script, config: { profiles, permissions: { ask: ['small__write'] } } });
    const added = await world.api('POST', '/api/rules', { list: 'deny', rule: 'small__delete_all' });
    expect([added.status, added.body]).toEqual([
      201,
      {
        rules: [
          {
            list: 'deny',
            rule: 'small__delete_all',
            owner: 'you',
            isEditable: true,
            hasConditions: false,
            tools: 1,
          },
          {
            list: 'ask',
            rule: 'small__write',
            owner: 'you',
            isEditable: true,
            hasConditions: false,
            tools: 1,
          },
          {
            list: 'deny',
            rule: 'small__delete*',
            owner: 'profile',
            of: 'careful',
            isEditable: false,
            hasConditions: false,
            tools: 1,
          },
        ],
      },
    ]);
    // It applies at once.
    expect((await world.api('POST', '/api/call', { name: 'small__delete_all' })).status).toBe(403);
    const remove = (rule: string): ReturnType<typeof world.api> =>
      world.api('DELETE', `/api/rules?list=deny&rule=${encodeURIComponent(rule)}`);
    expect((await remove('small__delete_all')).status).toBe(200);
    expect((await remove('small__delete_all')).status).toBe(404);
    expect(world.readConfig()).toEqual({ profiles, permissions: { ask: ['small__write'], deny: [] } });
    const broken = await world.api('POST', '/api/rules', { list: 'allow', rule: 'a b' });
    expect([broken.status, broken.body]).toMatchObject([400, { error: { code: 'CONFIG_INVALID', at: 1 } }]);
    const misplaced = { list: 'deny', rule: 'x', project: '/srv' };
    expect((await world.api('POST', '/api/rules', misplaced)).status).toBe(400);
  });
});
