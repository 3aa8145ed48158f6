/** Tools of the kit with `task`: as raw requests of both eras, with our host, and with the client of an SDK. */

import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sdkV1 } from '../../scripts/install-real-clients.mjs';
import type { PlugboardError } from '../../src/index.ts';
import {
  type Channel,
  type Context,
  defineServer,
  http,
  type Server,
  type StoredTask,
  type TaskMode,
  type TaskOptions,
  tool,
} from '../../src/kit/index.ts';
import { createGate, createTestHost, type FakeClock, fakeClock } from '../../src/testing/index.ts';
import { text } from '../world/content.ts';
import { until } from '../world/until.ts';
import { type Answer, resultOf, WebClient } from './web-client.ts';

type Era = 'legacy' | 'modern';
type Json = Readonly<Record<string, unknown>>;
type Run = (context: Context, args: Json) => unknown;

const ERAS = ['legacy', 'modern'] as const;
const URL = 'http://localhost/mcp';
const EXTENSION = 'io.modelcontextprotocol/tasks';
const RELATED = 'io.modelcontextprotocol/related-task';
const POLL_MS = 50;

interface Made {
  readonly task?: TaskMode;
  readonly tasks?: TaskOptions;
  readonly clock?: FakeClock;
}

function serverOf(run: Run, { task = true, tasks = {}, clock }: Made = {}): Server {
  return defineServer({
    name: 'tasks',
    clock,
    tasks: { pollMs: POLL_MS, ...tasks },
    tools: [
      tool({ name: 'work', task, run: (args, context) => run(context, args) }),
      tool({ name: 'plain', run: () => 'plain' }),
    ],
  });
}

/** A client of one era, in raw requests. */
interface Raw {
  request(method: string, params?: Json): Promise<Answer>;
  call(params?: Json): Promise<Answer>;
  /** The members of the response to a call that became a task. */
  begin(params?: Json): Promise<Json>;
  get(taskId: unknown): Promise<Json>;
  /** The state of a task once it has this status. */
  reach(taskId: unknown, status: string): Promise<Json>;
}

async function rawClient(
  server: Server,
  era: Era,
  capabilities: Json = {},
  token: string | undefined = undefined,
): Promise<Raw> {
  const verifier = { principalOf: async (given: string) => given };
  const handler = server.handler(token === undefined ? {} : { verifier });
  onTestFinished(() => handler.close());
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const client = new WebClient(URL, handler.fetch, headers);
  const opened =
    era === 'legacy'
      ? await client.legacy('initialize', {
          protocolVersion: '2025-11-25',
          capabilities,
          clientInfo: { name: 'raw', version: '1' },
        })
      : undefined;
  const session = opened?.headers.get('mcp-session-id') ?? undefined;
  const request = (method: string, params: Json = {}): Promise<Answer> =>
    era === 'legacy'
      ? client.legacy(method, params, session)
      : client.modern(method, params, { extensions: { [EXTENSION]: {} }, ...capabilities });
  const call = (params: Json = {}): Promise<Answer> =>
    request('tools/call', {
      name: 'work',
      arguments: {},
      ...(era === 'legacy' ? { task: {} } : {}),
      ...params,
    });
  const get = async (taskId: unknown): Promise<Json> => resultOf(await request('tasks/get', { taskId }));
  return {
    request,
    call,
    get,
    async begin(params) {
      const created = resultOf(await call(params));
      return (era === 'legacy' ? created['task'] : created) as Json;
    },
    async reach(taskId, status) {
      let state: Json = {};
      await until(`the task is ${status}`, async () => {
        state = await get(taskId);
        return state['status'] === status;
      });
      return state;
    },
  };
}

function errorOf({ messages }: Answer): Json {
  return messages.at(-1)?.['error'] as Json;
}

it.each(ERAS)('KIT-5: a call of a %s client becomes a task with progress and a result', async (era) => {
  const gate = createGate();
  const client = await rawClient(
    serverOf(async ({ progress }) => {
      progress(1, 3, 'Reading');
      await gate.opened;
      return 'done';
    }),
    era,
  );
  const task = await client.begin();
  const names = era === 'legacy' ? ['ttl', 'pollInterval'] : ['ttlMs', 'pollIntervalMs'];
  expect(task).toMatchObject({
    status: 'working',
    taskId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    [names[0] ?? '']: 24 * 60 * 60 * 1000,
    [names[1] ?? '']: POLL_MS,
  });
  const { taskId } = task;
  await until('its progress is shown', async () => (await client.get(taskId))['statusMessage'] === 'Reading');
  gate.open();
  const ended = await client.reach(taskId, 'completed');
  expect(ended).not.toHaveProperty('statusMessage');
  if (era === 'modern') {
    expect(ended['result']).toEqual({ content: [text('done')] });
    return;
  }
  const result = resultOf(await client.request('tasks/result', { taskId }));
  expect(result).toEqual({ content: [text('done')], _meta: { [RELATED]: { taskId } } });
  expect(resultOf(await client.request('tasks/list'))['tasks']).toMatchObject([
    { taskId, status: 'completed' },
  ]);
});

it.each(ERAS)(
  'KIT-5: a %s client cancels a task, whose handler is aborted and stays cancelled',
  async (era) => {
    const aborted: unknown[] = [];
    const started = createGate();
    const client = await rawClient(
      serverOf(
        ({ signal }) =>
          new Promise((resolve) => {
            started.open();
            signal.addEventListener('abort', () => {
              aborted.push((signal.reason as Error).message);
              resolve('too late');
            });
          }),
      ),
      era,
    );
    const { taskId } = await client.begin();
    await started.opened;
    const cancelled = resultOf(await client.request('tasks/cancel', { taskId }));
    if (era === 'legacy') expect(cancelled).toMatchObject({ taskId, status: 'cancelled' });
    expect(aborted).toEqual(['The client cancelled the task']);
    expect(await client.get(taskId)).toMatchObject({ status: 'cancelled' });
    const again = await client.request('tasks/cancel', { taskId });
    if (era === 'legacy') expect(errorOf(again)).toMatchObject({ code: -32602 });
    else expect(errorOf(again)).toBeUndefined();
    expect((await client.get(taskId))['result']).toBeUndefined();
  },
);

it.each(ERAS)('KIT-5: a failed handler of a %s client is a failed call', async (era) => {
  const server = serverOf((_, { code }) => {
    if (code !== undefined) throw Object.assign(new Error('broken'));
    const cycle: Record<string, unknown> = { content: [] };
    cycle['_meta'] = cycle;
    return cycle;
  });
  const client = await rawClient(server, era);
  const { taskId } = await client.begin({ arguments: { code: 1 } });
  const isError = { content: [text('broken')], isError: true };
  if (era === 'legacy') {
    await client.reach(taskId, 'failed');
    expect(resultOf(await client.request('tasks/result', { taskId }))).toMatchObject(isError);
  } else expect((await client.reach(taskId, 'completed'))['result']).toEqual(isError);
  const { taskId: cyclic } = await client.begin();
  const failed = await client.reach(cyclic, 'failed');
  if (era === 'modern') expect(failed['error']).toMatchObject({ code: -32603 });
  else
    expect(errorOf(await client.request('tasks/result', { taskId: cyclic }))).toMatchObject({ code: -32000 });
});

it.each(ERAS)('KIT-5: a task of a %s client expires, and its handler is aborted', async (era) => {
  const clock = fakeClock();
  let signal: AbortSignal | undefined;
  const running = createGate();
  const server = serverOf(
    (context, { ends }) => {
      if (ends === true) return 'done';
      ({ signal } = context);
      return running.opened;
    },
    { clock, tasks: { ttlMs: 60_000 } },
  );
  const client = await rawClient(server, era);
  const { taskId } = await client.begin();
  const { taskId: ended } = await client.begin({ arguments: { ends: true } });
  await client.reach(ended, 'completed');
  await clock.advance(59_999);
  expect(signal?.aborted).toBe(false);
  await clock.advance(1);
  expect(signal?.aborted).toBe(true);
  for (const id of [taskId, ended])
    expect(errorOf(await client.request('tasks/get', { taskId: id }))).toMatchObject({ code: -32602 });
});

it('KIT-5: a legacy client asks for a shorter time to live, within the bounds of the server', async () => {
  const client = await rawClient(
    serverOf(() => 'done', { tasks: { ttlMs: 60_000 } }),
    'legacy',
  );
  expect(await client.begin({ task: { ttl: 5_000 } })).toMatchObject({ ttl: 5_000 });
  expect(await client.begin({ task: { ttl: 0 } })).toMatchObject({ ttl: 1_000 });
  expect(await client.begin({ task: { ttl: 1e9 } })).toMatchObject({ ttl: 60_000 });
});

it('KIT-5: a modern client finds a question in the state of a task, and answers it', async () => {
  const server = serverOf(({ elicit }) =>
    elicit({ message: 'Name?', schema: { type: 'object', properties: { name: { type: 'string' } } } }).then(
      (answer) => answer,
    ),
  );
  const client = await rawClient(server, 'modern', { elicitation: { form: {} } });
  const { taskId } = await client.begin();
  const { inputRequests } = await client.reach(taskId, 'input_required');
  const [[key, question] = []] = Object.entries(inputRequests as Json);
  expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'Name?' } });
  const accepted = { action: 'accept', content: { name: 'Ada' } };
  await client.request('tasks/update', { taskId, inputResponses: { [key ?? '']: accepted } });
  const { result } = await client.reach(taskId, 'completed');
  expect(result).toEqual({ content: [text(JSON.stringify(accepted))] });
});

it('KIT-5: a call without a task of a tool that needs one is refused, and an optional one waits', async () => {
  const legacy = await rawClient(
    serverOf(() => 'done'),
    'legacy',
  );
  const call = { name: 'work', arguments: {} };
  expect(errorOf(await legacy.request('tools/call', call))).toEqual({
    code: -32601,
    message: 'work must be called as a task',
  });
  expect(errorOf(await legacy.request('tools/call', { ...call, name: 'plain', task: {} }))).toEqual({
    code: -32601,
    message: 'plain cannot be called as a task',
  });
  const modern = await rawClient(
    serverOf(() => 'done'),
    'modern',
    { extensions: {} },
  );
  expect(errorOf(await modern.call())).toMatchObject({ code: -32021 });
  for (const era of ERAS) {
    const server = serverOf(() => 'done', { task: 'optional' });
    const client = await rawClient(server, era, era === 'modern' ? { extensions: {} } : {});
    const answer = resultOf(await client.request('tools/call', call));
    expect(answer['content']).toEqual([text('done')]);
  }
});

it('KIT-5: only servers with such tools declare tasks', async () => {
  const described = async (server: Server, era: Era): Promise<Json> => {
    const client = await rawClient(server, era);
    const { capabilities } = resultOf(
      await client.request(
        era === 'legacy' ? 'initialize' : 'server/discover',
        era === 'legacy' ? { protocolVersion: '2025-11-25', capabilities: {} } : {},
      ),
    );
    return capabilities as Json;
  };
  const none = (): Server => defineServer({ name: 'none', tools: [tool({ name: 'a', run: () => 'a' })] });
  const some = (): Server => serverOf(() => 'done', { task: 'optional' });
  expect(await described(some(), 'legacy')).toMatchObject({
    tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
  });
  expect(await described(some(), 'modern')).toMatchObject({ extensions: { [EXTENSION]: {} } });
  for (const era of ERAS) {
    const declared = await described(none(), era);
    expect(declared).not.toHaveProperty('tasks');
    expect(declared).not.toHaveProperty('extensions');
    const client = await rawClient(none(), era);
    expect(errorOf(await client.request('tasks/get', { taskId: 'x' }))).toMatchObject({ code: -32601 });
  }
  const client = await rawClient(some(), 'legacy');
  const { tools } = resultOf(await client.request('tools/list'));
  expect(tools).toMatchObject([{ execution: { taskSupport: 'optional' } }, { name: 'plain' }]);
});

it('KIT-5: a client has a limit of running tasks, and never sees those of another principal or session', async () => {
  const running = createGate();
  const server = serverOf(() => running.opened, { tasks: { maxRunning: 2 } });
  const verifier = { principalOf: async (given: string) => given };
  const handler = server.handler({ verifier });
  onTestFinished(() => handler.close());
  const open = (token: string): WebClient =>
    new WebClient(URL, handler.fetch, { authorization: `Bearer ${token}` });
  const [ann, bob] = [open('ann'), open('bob')];
  const declared = { extensions: { [EXTENSION]: {} } };
  const call = (client: WebClient): Promise<Answer> =>
    client.modern('tools/call', { name: 'work', arguments: {} }, declared);
  const { taskId } = resultOf(await call(ann));
  await call(ann);
  expect(errorOf(await call(ann))).toEqual({ code: -32603, message: '2 tasks are running already' });
  const { taskId: other } = resultOf(await call(bob));
  expect(other).toEqual(expect.any(String));
  for (const method of ['tasks/get', 'tasks/cancel'])
    expect(errorOf(await bob.modern(method, { taskId }, declared))).toMatchObject({ code: -32602 });
  const session = (await ann.initialize()).headers.get('mcp-session-id') ?? undefined;
  expect(resultOf(await ann.legacy('tasks/list', {}, session))['tasks']).toEqual([]);
  running.open();
  await until('it has ended', async () => {
    const { status } = resultOf(await ann.modern('tasks/get', { taskId }, declared));
    return status === 'completed';
  });
  expect(errorOf(await call(ann))).toBeUndefined();
});

it('KIT-5: a store keeps results for the next process, and a failing one loses none of this process', async () => {
  const kept = new Map<string, StoredTask>();
  const store = {
    put: async (task: StoredTask) => void kept.set(task.id, JSON.parse(JSON.stringify(task))),
    get: async (id: string) => kept.get(id),
  };
  const first = await rawClient(
    serverOf(() => 'done', { tasks: { store } }),
    'modern',
  );
  const { taskId } = await first.begin();
  await first.reach(taskId, 'completed');
  const next = serverOf(() => 'again', { tasks: { store } });
  const modern = await rawClient(next, 'modern');
  expect((await modern.get(taskId))['result']).toEqual({ content: [text('done')] });
  const legacy = await rawClient(next, 'legacy');
  expect(resultOf(await legacy.request('tasks/result', { taskId }))['content']).toEqual([text('done')]);
  expect(errorOf(await legacy.request('tasks/cancel', { taskId }))).toMatchObject({ code: -32602 });

  const full = { put: () => Promise.reject(new Error('full')), get: async () => undefined };
  const warnings: string[] = [];
  const server = defineServer({
    name: 'full',
    warn: (warning) => warnings.push(warning),
    tasks: { store: full },
    tools: [tool({ name: 'work', task: true, run: () => 'done' })],
  });
  const client = await rawClient(server, 'modern');
  const { taskId: unstored } = await client.begin();
  expect((await client.reach(unstored, 'completed'))['result']).toEqual({ content: [text('done')] });
  expect(warnings).toEqual(['The result of a task of work is only in memory: Error: full']);
});

it('KIT-5: closing the server aborts its running tasks', async () => {
  let signal: AbortSignal | undefined;
  const started = createGate();
  const server = serverOf((context) => {
    ({ signal } = context);
    started.open();
    return createGate().opened;
  });
  const handler = server.handler();
  const client = new WebClient(URL, handler.fetch);
  await client.modern('tools/call', { name: 'work', arguments: {} }, { extensions: { [EXTENSION]: {} } });
  await started.opened;
  await handler.close();
  expect(signal?.aborted).toBe(true);
});

/** A server that one era only can reach: a client of the legacy era does not get as far as `server/discover`. */
function inEra(server: Server, era: Era): { serve(channel: Channel): Promise<{ close(): Promise<void> }> } {
  if (era === 'modern') return server;
  return {
    serve: (channel) =>
      server.serve({
        ...channel,
        send: (...given: Parameters<Channel['send']>) => channel.send(...given),
        close: () => channel.close(),
        open: (receiver) =>
          channel.open({
            lost: (...given) => receiver.lost(...given),
            closed: (...given) => receiver.closed(...given),
            notice: (...given) => receiver.notice(...given),
            message: (message) => {
              if ('method' in message && message.method === 'server/discover' && 'id' in message)
                void channel.send({
                  jsonrpc: '2.0',
                  id: message.id,
                  error: { code: -32601, message: 'Method not found' },
                });
              else receiver.message(message);
            },
          }),
      }),
  };
}

it.each(ERAS)(
  'KIT-5: host.call follows a task of a %s server, with its progress and questions',
  async (era) => {
    const seen: string[] = [];
    const server = serverOf(async ({ client, progress, elicit }) => {
      seen.push(client.era);
      progress(1, 2, 'Half');
      const answer = await elicit({
        message: 'Name?',
        schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      });
      return answer.action === 'accept' ? `Hello ${answer.content.name}` : answer.action;
    });
    const host = await createTestHost({
      servers: { kit: { inProcess: inEra(server, era), approval: 'approve' } },
      elicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
    });
    onTestFinished(() => host.close());
    await host.ready();
    const { content } = await host.call('mcp__kit__work', {});
    expect(content).toEqual([text('Hello Ada')]);
    const task = await host.call('mcp__kit__work', {}, { background: true });
    expect((await task.result()).content).toEqual([text('Hello Ada')]);
    expect(seen).toEqual([era, era]);
  },
);

it.each(ERAS)('KIT-5: a host that cancels a call cancels the task of a %s server', async (era) => {
  const followed = createGate();
  const aborted = createGate();
  const server = serverOf(({ signal, progress }) => {
    signal.addEventListener('abort', () => aborted.open());
    progress(1, 2, 'Half');
    return createGate().opened;
  });
  const host = await createTestHost({
    servers: { kit: { inProcess: inEra(server, era), approval: 'approve' } },
  });
  onTestFinished(() => host.close());
  await host.ready();
  host.on('call.progress', () => followed.open());
  const controller = new AbortController();
  const call = host.call('mcp__kit__work', {}, { signal: controller.signal }).catch((error) => error);
  await followed.opened;
  controller.abort();
  expect(((await call) as PlugboardError).code).toBe('CANCELLED');
  await aborted.opened;
});

it('KIT-5: the client of the SDK v1 follows, asks for, lists and cancels tasks', async () => {
  const server = serverOf(async ({ signal, elicit }, { asks }) => {
    if (asks !== true) return new Promise((resolve) => signal.addEventListener('abort', resolve));
    const answer = await elicit({
      message: 'Name?',
      schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
    return answer.action === 'accept' ? answer.content.name : answer.action;
  });
  const served = await server.serve(http({ port: 0 }));
  onTestFinished(() => served.close());
  const { Client } = await import(join(sdkV1, 'client/index.js'));
  const { StreamableHTTPClientTransport } = await import(join(sdkV1, 'client/streamableHttp.js'));
  const { ElicitRequestSchema } = await import(join(sdkV1, 'types.js'));
  const client = new Client({ name: 'v1', version: '1' }, { capabilities: { elicitation: {}, tasks: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }));
  await client.connect(new StreamableHTTPClientTransport(new globalThis.URL(served.url)));
  await client.listTools();
  const { tasks } = client.experimental;
  const events: Json[] = [];
  for await (const event of tasks.callToolStream({ name: 'work', arguments: { asks: true } }))
    events.push(event);
  expect(events[0]).toMatchObject({ type: 'taskCreated' });
  expect(events.at(-1)).toMatchObject({ type: 'result', result: { content: [text('Ada')] } });
  const stream = tasks.callToolStream({ name: 'work', arguments: {} });
  const { value } = await stream.next();
  const { taskId } = value.task;
  expect(await tasks.getTask(taskId)).toMatchObject({ status: 'working' });
  expect(await tasks.cancelTask(taskId)).toMatchObject({ status: 'cancelled' });
  expect((await tasks.listTasks()).tasks).toMatchObject([{ status: 'completed' }, { status: 'cancelled' }]);
  await client.close();
});
