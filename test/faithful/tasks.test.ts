import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Carrier, type Era, type Message, type RawClient, RawGateway } from './raw-client.ts';

const ERAS: readonly Era[] = ['legacy', 'modern'];
const CARRIERS: readonly Carrier[] = ['stdio', 'http'];
const TASKS = 'io.modelcontextprotocol/tasks';
const RELATED = 'io.modelcontextprotocol/related-task';
const SERVERS = ERAS.flatMap((era) => CARRIERS.map((by) => `${era}-${by}`));

const gateway = new RawGateway();
const clients: RawClient[] = [];
beforeAll(async () => {
  await gateway.open({
    'legacy-stdio': ['tasks-server.mjs'],
    'legacy-http': ['tasks-server.mjs', '--http'],
    'modern-stdio': ['tasks-server.mjs', '--modern'],
    'modern-http': ['tasks-server.mjs', '--modern', '--http'],
  });
});
afterAll(() => gateway.close());
afterEach(() => {
  for (const client of clients.splice(0)) client.leave();
});

const capabilities = (era: Era): Message => ({
  elicitation: { form: {} },
  ...(era === 'modern' ? { extensions: { [TASKS]: {} } } : {}),
});

/** A client that has tasks, one server's task in its hands, and both moved on together. */
class Follower {
  readonly client: RawClient;
  readonly server: string;

  constructor(client: RawClient, server: string) {
    this.client = client;
    this.server = server;
  }

  static async open(era: Era, carrier: Carrier, server: string, by: RawGateway = gateway): Promise<Follower> {
    const answer = (): Message => ({ action: 'accept', content: { pick: 'this' } });
    const client = await by.client({ era, carrier, capabilities: capabilities(era), answer });
    clients.push(client);
    return new Follower(client, server);
  }

  /** Calls `job`, and returns the task. */
  async begin(meta: Message = {}): Promise<Message> {
    const wanted = this.client.isModern ? {} : { task: { ttl: 60_000 } };
    const created = await this.client.request(
      'tools/call',
      { name: `${this.server}__job`, arguments: {}, ...wanted },
      meta,
    );
    return this.client.isModern ? created : { ...(created['task'] as Message), around: created['_meta'] };
  }

  async go(to: string): Promise<Message> {
    return this.client.request('tools/call', { name: `${this.server}__go`, arguments: { to } });
  }

  get(taskId: unknown): Promise<Message> {
    return this.client.request('tasks/get', { taskId });
  }

  /** The end of a task: its status and its result or error, in the way of the client's era. */
  async end(taskId: unknown): Promise<Message> {
    const state = await this.until(taskId, 'completed', 'failed', 'cancelled');
    const { status, result, error } = state;
    if (this.client.isModern)
      return {
        status,
        ...(result === undefined ? {} : { result }),
        ...(error === undefined ? {} : { error }),
      };
    const answer = await this.client.exchange('tasks/result', { taskId });
    return {
      status,
      ...(answer['error'] === undefined ? { result: answer['result'] } : { error: answer['error'] }),
    };
  }

  async until(taskId: unknown, ...statuses: readonly string[]): Promise<Message> {
    for (;;) {
      const state = await this.get(taskId);
      if (statuses.includes(String(state['status']))) return state;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

const matrix = ERAS.flatMap(
  (era) => CARRIERS.flatMap((carrier) => SERVERS.map((server) => ({ era, carrier, server }))),
  // Over pipes with every server, over HTTP with those that have it too: two transports at once are enough.
).filter(({ carrier, server }) => carrier === 'stdio' || server.endsWith('http'));

describe('tasks of servers through the gateway', () => {
  // Protocol: 25-tasks-17, 25-tasks-18, 25-tasks-20, 25-tasks-30, 25-tasks-31, 25-tasks-32, 25-tasks-34,
  // 25-tasks-36, 25-tasks-38, 25-tasks-58, 25-tasks-62, 25-tasks-63, 25-tasks-66
  it.each(matrix)(
    'SRV-1: a $era client over $carrier follows a task of a $server server to its end',
    async ({ era, carrier, server }) => {
      const one = await Follower.open(era, carrier, server);
      const { taskId, around: _around, ...begun } = await one.begin();
      const time = new Date(0).toISOString();
      const times =
        era === 'modern' ? { ttlMs: 60_000, pollIntervalMs: 50 } : { ttl: 60_000, pollInterval: 50 };
      // A modern client cannot say how long a task of a legacy server should be kept.
      if (era === 'modern' && server.startsWith('legacy')) times.ttlMs = null as never;
      const fields = { createdAt: time, lastUpdatedAt: time, ...times, 'com.example/field': 'kept' };
      const decorated = (type: string): Message =>
        era === 'legacy' ? {} : { resultType: type, _meta: expect.anything() };
      expect(begun).toEqual({ status: 'working', statusMessage: 'begun', ...fields, ...decorated('task') });
      expect(taskId).toMatch(/^[0-9a-f-]{36}$/);
      await one.go('progress');
      expect(await one.get(taskId)).toEqual({
        taskId,
        status: 'working',
        statusMessage: 'half',
        ...fields,
        ...decorated('complete'),
      });
      await one.go('done');
      const related = era === 'legacy' ? { _meta: { [RELATED]: { taskId } } } : {};
      expect(await one.end(taskId)).toEqual({
        status: 'completed',
        result: { content: [{ type: 'text', text: 'done' }], isError: false, ...related },
      });
      // Errors of the tool and of the protocol, each in the way of the client's era.
      const second = (await one.begin())['taskId'];
      await one.go('isError');
      const failed = await one.end(second);
      expect(failed).toMatchObject({
        status: era === 'legacy' ? 'failed' : 'completed',
        result: { content: [{ type: 'text', text: 'sorry' }], isError: true },
      });
      const third = (await one.begin())['taskId'];
      await one.go('error');
      expect(await one.end(third)).toEqual({
        status: 'failed',
        error: { code: 4711, message: 'broken', data: { why: 'a' } },
      });
    },
  );

  // Protocol: 25-tasks-27, 25-tasks-37, 25-tasks-39, 25-tasks-40, 25-tasks-51, 25-tasks-52, 25-tasks-53,
  // 25-tasks-54, 25-tasks-58
  it.each(matrix)(
    'SRV-1, SRV-2: a $era client over $carrier answers what a task of a $server server asks, and cancels another',
    async ({ era, carrier, server }) => {
      const one = await Follower.open(era, carrier, server);
      const { taskId } = await one.begin();
      await one.go('ask');
      if (era === 'modern') {
        const { inputRequests } = await one.until(taskId, 'input_required');
        const [[key, asked] = ['', {}]] = Object.entries(inputRequests as Record<string, Message>);
        expect(asked).toMatchObject({
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: expect.stringContaining('Which?'),
            _meta: { 'plugboard/server': server },
          },
        });
        expect(JSON.stringify(asked)).not.toContain(RELATED);
        const inputResponses = { [key]: { action: 'accept', content: { pick: 'this' } }, other: {} };
        const updated = await one.client.request('tasks/update', { taskId, inputResponses });
        expect(Object.keys(updated).toSorted()).toEqual(['_meta', 'resultType']);
        expect((await one.get(taskId))['inputRequests']).toBeUndefined();
      } else {
        const result = one.client.exchange('tasks/result', { taskId });
        await one.until(taskId, 'working');
        expect(one.client.asked).toMatchObject([
          {
            method: 'elicitation/create',
            params: {
              message: expect.stringContaining('Which?'),
              _meta: { 'plugboard/server': server, [RELATED]: { taskId } },
            },
          },
        ]);
        await one.go('done');
        expect(await result).toMatchObject({ result: { _meta: { [RELATED]: { taskId } } } });
      }
      await one.until(taskId, 'working', 'completed');
      await one.go('done');
      const { result } = await one.end(taskId);
      const [{ text }] = (result as { content: [{ text: string }] }).content;
      const related = server.startsWith('legacy')
        ? { _meta: { [RELATED]: { taskId: expect.stringMatching(/^t\d+$/) } } }
        : {};
      expect(JSON.parse(text)).toEqual({ action: 'accept', content: { pick: 'this' }, ...related });

      const { taskId: unwanted } = await one.begin();
      const cancelled = await one.client.request('tasks/cancel', { taskId: unwanted });
      expect(cancelled['status']).toBe(era === 'legacy' ? 'cancelled' : undefined);
      expect((await one.until(unwanted, 'cancelled'))['status']).toBe('cancelled');
      const again = await one.client.exchange('tasks/cancel', { taskId: unwanted });
      expect((again['error'] as Message | undefined)?.['code']).toBe(era === 'legacy' ? -32602 : undefined);
    },
  );

  // Protocol: 25-tasks-19, 25-tasks-41, 25-tasks-59, 25-tasks-64, 25-tasks-68, 25-tasks-69
  it.each(CARRIERS)('A7: a task is unknown to every other client over %s', async (carrier) => {
    const one = await Follower.open('legacy', carrier, 'legacy-stdio');
    const other = await Follower.open('legacy', carrier, 'legacy-stdio');
    const modern = await Follower.open('modern', carrier, 'legacy-stdio');
    const { taskId } = await one.begin();
    const codes: unknown[] = [];
    for (const [client, method] of [
      [other, 'tasks/get'],
      [other, 'tasks/result'],
      [other, 'tasks/cancel'],
      [modern, 'tasks/get'],
      [modern, 'tasks/update'],
      [modern, 'tasks/cancel'],
    ] as const) {
      // The id of the server is as unknown as the gateway's.
      for (const id of [taskId, 't1', 7, undefined]) {
        const params = { taskId: id, ...(method === 'tasks/update' ? { inputResponses: {} } : {}) };
        codes.push(((await client.client.exchange(method, params))['error'] as Message)['code']);
      }
    }
    expect(new Set(codes)).toEqual(new Set([-32602]));
    const listed = async ({ client }: Follower): Promise<unknown[]> =>
      ((await client.request('tasks/list'))['tasks'] as Message[]).map((task) => task['taskId']);
    expect([await listed(one), await listed(other)]).toEqual([[taskId], []]);
    expect((await one.get(taskId))['status']).toBe('working');
  });

  // Protocol: 25-progress-6, 25-progress-7
  it.each(CARRIERS)('progress of a legacy task goes on after it was created (%s)', async (carrier) => {
    const one = await Follower.open('legacy', carrier, 'legacy-stdio');
    const { taskId, around } = await one.begin({ progressToken: 'p' });
    expect(around).toEqual({ 'com.example/created': true });
    await one.go('progress');
    expect(await one.client.heard('notifications/progress')).toEqual({
      progressToken: 'p',
      progress: 5,
      total: 10,
    });
    expect(await one.client.heard('notifications/tasks/status')).toMatchObject({
      taskId,
      statusMessage: 'half',
    });
    await one.go('done');
    const { status } = await one.client.heard(
      'notifications/tasks/status',
      (task) => task['status'] === 'completed',
    );
    expect(status).toBe('completed');
  });

  it.each(CARRIERS.flatMap((carrier) => SERVERS.map((server) => ({ carrier, server }))))(
    'a modern client over $carrier receives the states of a task of a $server server',
    async ({ carrier, server }) => {
      const one = await Follower.open('modern', carrier, server);
      const { taskId } = await one.begin();
      void one.client.exchange('subscriptions/listen', { notifications: { taskIds: [taskId, 'unknown'] } });
      const { notifications } = await one.client.heard('notifications/subscriptions/acknowledged');
      expect(notifications).toEqual({ taskIds: [taskId] });
      // The gateway's own subscription at the server is under way.
      await one.go('progress');
      await one.go('done');
      for (let tries = 0; tries < 50; tries += 1) {
        if (one.client.paramsOf('notifications/tasks').some(({ status }) => status === 'completed')) break;
        await one.go('done');
      }
      const ended = await one.client.heard('notifications/tasks', ({ status }) => status === 'completed');
      expect(ended).toMatchObject({ taskId, result: { content: [{ type: 'text', text: 'done' }] } });
    },
  );

  // Protocol: 25-tasks-7, 26-versioning-5
  it.each(matrix)(
    'a task of a $server server is followed for a $era client over $carrier without tasks',
    async ({ era, carrier, server }) => {
      const client = await gateway.client({ era, carrier, capabilities: { elicitation: { form: {} } } });
      clients.push(client);
      // One step with each look at the task: the progress of a legacy one comes after the answer to its call.
      const params = { name: `${server}__job`, arguments: { steps: ['progress', 'working', 'done'] } };
      const called = await client.request('tools/call', params, { progressToken: 1 });
      expect(called).toMatchObject({ content: [{ type: 'text', text: 'done' }], isError: false });
      const told = client
        .paramsOf('notifications/progress')
        .map(({ message, progress }) => message ?? progress);
      expect(told).toEqual(server.startsWith('legacy') ? ['begun', 5] : ['begun', 'half']);
    },
  );

  // Protocol: 25-tasks-1, 25-tasks-6, 25-tasks-59
  it.each(CARRIERS)('methods, capabilities and tools are those of each version (%s)', async (carrier) => {
    const open = (era: Era, more: Message = {}): Promise<RawClient> =>
      gateway.client({ era, carrier, capabilities: {}, ...more });
    const old = await open('legacy', { version: '2025-06-18' });
    const legacy = await open('legacy');
    const plain = await open('modern');
    const modern = await open('modern', { capabilities: capabilities('modern') });
    clients.push(old, legacy, plain, modern);
    const taskId = 'none';
    const code = async (client: RawClient, method: string, params: Message = { taskId }): Promise<unknown> =>
      ((await client.exchange(method, params))['error'] as Message)['code'];
    expect({
      old: [await code(old, 'tasks/get'), await code(old, 'tasks/list', {})],
      legacy: [await code(legacy, 'tasks/update')],
      plain: [
        await code(plain, 'tasks/get'),
        await code(plain, 'tasks/update'),
        await code(plain, 'tasks/cancel'),
        await code(plain, 'subscriptions/listen', { notifications: { taskIds: ['x'] } }),
      ],
      modern: [await code(modern, 'tasks/result'), await code(modern, 'tasks/list', {})],
      forbidden: [
        await code(legacy, 'tools/call', { name: 'legacy-stdio__plain', arguments: {}, task: {} }),
        await code(legacy, 'tasks/list', { cursor: 'x' }),
      ],
    }).toEqual({
      old: [-32601, -32601],
      legacy: [-32601],
      plain: [-32021, -32021, -32021, -32021],
      modern: [-32601, -32601],
      forbidden: [-32601, -32602],
    });
    const declared = ({ initialized }: RawClient): unknown[] => {
      const { tasks, extensions } = initialized['capabilities'] as Message;
      return [tasks, extensions];
    };
    const all = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
    expect([declared(old), declared(legacy), declared(modern)]).toEqual([
      [undefined, undefined],
      [all, undefined],
      [undefined, { [TASKS]: {} }],
    ]);
    // Never "required": the gateway follows a task for clients that do not.
    const listed = (await legacy.request('tools/list'))['tools'] as { name: string; execution?: unknown }[];
    const optional = { taskSupport: 'optional' };
    expect(
      listed.flatMap(({ name, execution }) =>
        name.startsWith('legacy-stdio__') || name === 'modern-stdio__plain' ? [[name, execution]] : [],
      ),
    ).toEqual([
      ['legacy-stdio__go', undefined],
      ['legacy-stdio__job', optional],
      ['legacy-stdio__plain', undefined],
      ['legacy-stdio__received', undefined],
      ['modern-stdio__plain', optional],
    ]);
    // A version without tasks ignores that one was asked for.
    const ignored = await old.request('tools/call', { name: 'modern-stdio__plain', arguments: {}, task: {} });
    expect(ignored['content']).toEqual([{ type: 'text', text: 'plain' }]);
    // A modern server answers some calls at once; a legacy client that waits for a task gets one.
    const created = await legacy.request('tools/call', {
      name: 'modern-stdio__plain',
      arguments: {},
      task: {},
    });
    const { taskId: quick } = created['task'] as Message;
    expect((await legacy.request('tasks/result', { taskId: quick }))['content']).toEqual([
      { type: 'text', text: 'plain' },
    ]);
  });
});

describe('tasks of a process that another host has started', () => {
  const shared = new RawGateway();
  beforeAll(async () => {
    const servers = { legacy: ['tasks-server.mjs'], modern: ['tasks-server.mjs', '--modern'] } as const;
    await shared.open(servers, { borrowed: true });
  });
  afterAll(() => shared.close());

  it.each(ERAS.flatMap((era) => ERAS.map((server) => ({ era, server }))))(
    'CON-11: a $era client follows a task of a $server server, with its progress, states and questions',
    async ({ era, server }) => {
      const one = await Follower.open(era, 'stdio', server, shared);
      const [lender, borrower] = shared.hosts.map((host) => host.servers().map(({ pid }) => pid));
      expect(borrower).toEqual(lender);
      const { taskId } = await one.begin({ progressToken: 'p' });
      if (era === 'modern') {
        void one.client.exchange('subscriptions/listen', { notifications: { taskIds: [taskId] } });
        await one.client.heard('notifications/subscriptions/acknowledged');
      }
      await one.go('progress');
      if (era === 'legacy' && server === 'legacy')
        expect(await one.client.heard('notifications/progress')).toMatchObject({
          progressToken: 'p',
          progress: 5,
        });
      await one.go('ask');
      const waiting = era === 'legacy' ? one.client.exchange('tasks/result', { taskId }) : undefined;
      if (era === 'modern') {
        const { inputRequests } = await one.until(taskId, 'input_required');
        const answer = { action: 'accept', content: { pick: 'this' } };
        const inputResponses = Object.fromEntries(
          Object.keys(inputRequests as Message).map((key) => [key, answer]),
        );
        await one.client.request('tasks/update', { taskId, inputResponses });
      }
      await one.until(taskId, 'working');
      await one.go('done');
      await waiting;
      const { result } = await one.end(taskId);
      const [{ text }] = (result as { content: [{ text: string }] }).content;
      expect(JSON.parse(text)).toMatchObject({ action: 'accept', content: { pick: 'this' } });
      const method = era === 'modern' ? 'notifications/tasks' : 'notifications/tasks/status';
      expect(await one.client.heard(method, ({ status }) => status === 'completed')).toMatchObject({
        taskId,
      });
    },
  );
});
