import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CallOptions, PlugboardError } from '../../src/index.ts';
import { type Exchange, RpcError, type ScriptedServer, scriptedServer } from '../../src/testing/index.ts';
import { text } from '../world/content.ts';
import { failure } from '../world/failure.ts';
import { type ScriptedHost, type ScriptedHostOptions, scriptedHost } from '../world/scripted-host.ts';
import { until } from '../world/until.ts';

type Era = 'legacy' | 'modern';
type Json = Record<string, unknown>;

interface Work {
  /** What `tasks/get` says, one after the other; the last one stays. */
  readonly states: Json[];
  readonly looked?: () => void;
  readonly result?: (exchange: Exchange) => unknown;
}

const RESULT = { content: [text('done')], isError: false };
const QUESTION = {
  method: 'elicitation/create',
  params: { message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
};

/** A server of either protocol of tasks, whose only tool is one. */
function worker(era: Era, { states, looked, result }: Work): ScriptedServer {
  const looks = [...states];
  const server = scriptedServer({
    eras: era,
    capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } }, cancel: {} } },
    tools: { work: { execution: { taskSupport: 'required' } } },
  });
  const task = (state: Json): Json => ({
    taskId: 't1',
    createdAt: '2026-01-01T00:00:00Z',
    lastUpdatedAt: '2026-01-01T00:00:00Z',
    ...(era === 'modern' ? { ttlMs: null, pollIntervalMs: 500 } : { ttl: null, pollInterval: 500 }),
    ...state,
  });
  const next = (): Json => task((looks.length > 1 ? looks.shift() : looks[0]) ?? {});
  server.on('tools/call', () => (era === 'modern' ? { ...next(), resultType: 'task' } : { task: next() }));
  server.on('tasks/get', ({ params }) => {
    looked?.();
    if (params['taskId'] !== 't1') throw new RpcError(-32602, 'no such task');
    return next();
  });
  server.on('tasks/result', result ?? (() => RESULT));
  server.on('tasks/update', () => ({}));
  server.on('tasks/cancel', () => ({}));
  return server;
}

const done: Record<Era, Json> = {
  legacy: { status: 'completed' },
  modern: { status: 'completed', result: RESULT },
};

function sent(server: ScriptedServer, method: string): Json[] {
  return server.received.flatMap((message) => {
    if (!('method' in message) || message.method !== method) return [];
    const { _meta, ...params } = message.params ?? {};
    return [params];
  });
}

/** Calls the tool and lets time pass until the call has ended. */
async function run(made: ScriptedHost, options?: CallOptions): Promise<unknown> {
  const call = made.host.call('mcp__s__work', { a: 1 }, options).catch((error: unknown) => error);
  while (made.events('call.end').length === 0) await made.clock.advance(100);
  return call;
}

/** The records of the table of tasks. */
function storedTasks(home: string): Record<string, unknown>[] {
  const folder = join(home, 'tasks');
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, unknown>);
}

const make = (server: ScriptedServer, more: ScriptedHostOptions = {}): Promise<ScriptedHost> =>
  scriptedHost({ server, ...more });

describe.each<Era>(['legacy', 'modern'])('a task of the %s era', (era) => {
  // Protocol: 25-tasks-7, 25-tasks-10, 25-tasks-11, 25-tasks-12, 25-tasks-14, 25-tasks-15, 25-tasks-33, 25-tasks-42
  it('is looked at in the rhythm that the server asks for, and its result is the result of the call', async () => {
    const states = [
      { status: 'working', statusMessage: 'reading' },
      { status: 'working', statusMessage: 'writing' },
      { status: 'working', statusMessage: 'writing' },
      done[era],
    ];
    const looks: number[] = [];
    const server = worker(era, { states, looked: () => looks.push(made.clock.now()) });
    const made = await make(server);
    const progress: unknown[] = [];
    expect(await run(made, { onProgress: (step) => progress.push(step) })).toEqual(RESULT);
    expect(looks.map((at) => at - (looks[0] ?? 0))).toEqual([0, 500, 1_000]);
    expect(sent(server, 'tasks/get')).toEqual([{ taskId: 't1' }, { taskId: 't1' }, { taskId: 't1' }]);
    expect(sent(server, 'tasks/result')).toEqual(era === 'legacy' ? [{ taskId: 't1' }] : []);
    expect(sent(server, 'tools/call')).toEqual([
      { name: 'work', arguments: { a: 1 }, ...(era === 'legacy' ? { task: {} } : {}) },
    ]);
    expect(progress).toEqual([
      { progress: 0, message: 'reading' },
      { progress: 1, message: 'writing' },
    ]);
    expect(made.events('call.end')).toEqual([{ id: 'c1', outcome: 'ok', ms: expect.any(Number) }]);
    await made.host.close();
    expect(storedTasks(made.home)).toEqual([]);
  });

  it('that failed, or that the server cancelled, ends the call so', async () => {
    const error = { code: -32603, message: 'no disk' };
    const failing = worker(era, {
      states: [{ status: 'working' }, { status: 'failed', statusMessage: 'no disk', error }],
      result: () => {
        throw new RpcError(error.code, error.message);
      },
    });
    const made = await make(failing);
    expect(await run(made)).toMatchObject({
      code: 'PROTOCOL_ERROR',
      message: expect.stringContaining('no disk'),
    });
    await made.host.close();
    const cancelled = await make(worker(era, { states: [{ status: 'working' }, { status: 'cancelled' }] }));
    expect(await run(cancelled)).toMatchObject({
      code: 'CANCELLED',
      message: 'The server cancelled the task',
    });
    expect(sent(cancelled.server, 'tasks/cancel')).toEqual([]);
    await cancelled.host.close();
  });

  // Protocol: 25-tasks-23, 25-tasks-28
  it('asks the person through the same callback, once a question', async () => {
    const input =
      era === 'modern'
        ? { status: 'input_required', inputRequests: { k: QUESTION } }
        : { status: 'input_required' };
    let asked = 0;
    const server = worker(era, {
      states: [{ status: 'working' }, input, input, done[era]],
      result: async (exchange) => ({
        content: [text(JSON.stringify(await exchange.request(QUESTION.method, QUESTION.params)))],
      }),
    });
    const made = await make(server, {
      elicit: () => {
        asked += 1;
        return { action: 'accept', content: { name: 'Ada' } };
      },
    });
    const answer = { action: 'accept', content: { name: 'Ada' } };
    expect(await run(made)).toEqual(
      era === 'modern' ? RESULT : { content: [text(JSON.stringify(answer))], isError: false },
    );
    expect(asked).toBe(1);
    expect(sent(server, 'tasks/update')).toEqual(
      era === 'modern' ? [{ taskId: 't1', inputResponses: { k: answer } }] : [],
    );
    await made.host.close();
  });

  // Protocol: 25-cancellation-3, 25-tasks-55
  it('is cancelled on the server when the caller gives up', async () => {
    const server = worker(era, { states: [{ status: 'working' }] });
    const made = await make(server);
    const controller = new AbortController();
    const call = failure(made.host.call('mcp__s__work', {}, { signal: controller.signal }));
    await server.seen('tools/call');
    while (sent(server, 'tasks/get').length < 2) await made.clock.advance(100);
    controller.abort();
    expect((await call).code).toBe('CANCELLED');
    await server.seen('tasks/cancel');
    expect(sent(server, 'tasks/cancel')).toEqual([{ taskId: 't1' }]);
    await made.host.close();
  });

  it('F27: that is never done ends at the total limit', async () => {
    const server = worker(era, { states: [{ status: 'working' }] });
    const made = await make(server, { entry: { maxTotalMs: 10_000 } });
    expect(await run(made)).toMatchObject({
      code: 'TIMEOUT',
      message: 'work (s) timed out: not finished after 10 s',
      server: 's',
    });
    await server.seen('tasks/cancel');
    await made.host.close();
  });

  it('that its server has forgotten, or whose state is nonsense, is an error', async () => {
    const forgotten = worker(era, { states: [{ status: 'working' }] });
    forgotten.on('tasks/get', () => {
      throw new RpcError(-32602, 'Task not found');
    });
    const made = await make(forgotten);
    expect(await run(made)).toMatchObject({
      code: 'PROTOCOL_ERROR',
      message: 'work (s) returned an error: Task not found',
    });
    await made.host.close();
    for (const answer of [{}, { taskId: 't1', status: 'dancing' }, { taskId: 7, status: null }]) {
      const odd = worker(era, { states: [{ status: 'working' }] });
      odd.on('tasks/get', () => answer);
      const world_ = await make(odd);
      expect(await run(world_)).toMatchObject({ code: 'PROTOCOL_ERROR' });
      await world_.host.close();
    }
  });

  // Protocol: 25-tasks-73b
  it('survives its host: the next one collects it and reports where the result is', async () => {
    const server = worker(era, { states: [{ status: 'working' }] });
    const first = await make(server);
    const call = failure(first.host.call('mcp__s__work'));
    await until('the handle is kept', () => storedTasks(first.home).length === 1);
    // A caller waits for it.
    expect(await first.host.tasks()).toEqual([]);
    await first.clock.armed();
    await first.host.close();
    expect((await call).code).toBe('CONNECTION_LOST');
    expect(sent(server, 'tasks/cancel')).toEqual([]);
    const at = Date.UTC(2026, 0, 1);
    const [kept] = storedTasks(first.home);
    expect(kept).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{28}$/),
      owner: 'local',
      server: 's',
      name: 'mcp__s__work',
      tool: 'work',
      entry: expect.any(String),
      upstream: { taskId: 't1', era },
      foreground: true,
      status: 'working',
      createdAt: at,
      updatedAt: at,
      ttlMs: 7 * 24 * 60 * 60 * 1000,
    });

    server.on('tasks/get', () => ({ taskId: 't1', ...done[era] }));
    const second = await make(server, { dir: join(first.home, '..') });
    while (second.events('log').length === 0) await second.clock.advance(100);
    const [log] = second.events('log');
    const id = String(kept?.['id']);
    expect(log).toEqual({
      server: 's',
      level: 'info',
      message: `the task of work that was begun at 2026-01-01T00:00:00.000Z is done: host.task('${id}')`,
    });
    expect(await (await second.host.task(id)).result()).toEqual(RESULT);
    await second.host.close();
    expect(storedTasks(first.home)).toMatchObject([{ id, status: 'completed' }]);
  });
});

describe('tasks and other things', () => {
  // Protocol: 25-tasks-2, 25-tasks-3, 25-tasks-4, 25-tasks-5, 26-versioning-5
  it('a legacy tool that needs no task is not called as one, nor is any on a server without tasks', async () => {
    const server = scriptedServer({
      eras: 'legacy',
      tools: { work: { execution: { taskSupport: 'required' } } },
    });
    const made = await make(server);
    await made.host.call('mcp__s__work');
    expect(sent(server, 'tools/call')).toEqual([{ name: 'work', arguments: {} }]);
    await made.host.close();
  });

  it('a look that fails because the connection broke is repeated on the new one', async () => {
    const server = worker('modern', { states: [{ status: 'working' }, done.modern] });
    server.once('tasks/get', ({ crash }) => crash());
    const made = await make(server);
    expect(await run(made)).toEqual(RESULT);
    await made.host.close();
  });

  it('a task of a host that was killed is collected; one that cannot be reached is kept for the next', async () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    const first = await make(worker('modern', { states: [{ status: 'working' }] }));
    const call = failure(first.host.call('mcp__s__work'));
    await until('the handle is kept', () => storedTasks(first.home).length === 1);
    await first.host.close();
    await call;
    const dir = join(first.home, '..');
    const [left = {}] = storedTasks(first.home);
    const id = String(left['id']);
    const file = join(first.home, 'tasks', id.slice(0, 8), `${id}.json`);
    writeFileSync(file, JSON.stringify({ ...left, runner: { pid: dead } }));
    // A server of another project with the same name.
    const other = `${id.slice(0, 8)}${'0'.repeat(20)}`;
    writeFileSync(file.replace(id, other), JSON.stringify({ ...left, id: other, entry: 'another' }));
    writeFileSync(join(first.home, 'tasks', 'running', other), '');
    const gone = await make(scriptedServer(), {
      dir,
      replaceTransport: () => {
        throw new PlugboardError('CONNECT_FAILED', 'nobody listens there');
      },
    });
    const warned = (): boolean => gone.events('log').some(({ message }) => message.includes('has no result'));
    while (!warned()) await gone.clock.advance(10_000);
    await gone.host.close();
    expect(storedTasks(first.home).map((task) => task['status'])).toEqual(['working', 'working']);

    const back = await make(worker('modern', { states: [done.modern] }), { dir });
    while (back.events('log').length === 0) await back.clock.advance(100);
    expect(back.events('log')).toMatchObject([
      { level: 'info', message: expect.stringContaining('is done') },
    ]);
    await back.host.close();
    const statuses = storedTasks(first.home).map((task) => [task['id'], task['status']]);
    expect(Object.fromEntries(statuses)).toEqual({ [id]: 'completed', [other]: 'working' });
  });

  it('a task of a host that still lives is left alone', async () => {
    const server = worker('modern', { states: [{ status: 'working' }] });
    const first = await make(server);
    const call = failure(first.host.call('mcp__s__work'));
    await until('the handle is kept', () => storedTasks(first.home).length === 1);
    const other = worker('modern', { states: [] });
    const second = await make(other, { dir: join(first.home, '..') });
    await second.clock.advance(10_000);
    await second.host.close();
    expect(sent(other, 'tasks/get')).toEqual([]);
    await first.host.close();
    await call;
  });
});
