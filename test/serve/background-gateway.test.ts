/** SRV-12: calls of clients that take long become tasks, for clients with and without tasks, in both eras. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { removeHome } from '../remove-home.ts';
import {
  type Carrier,
  type Json,
  openRawGateway,
  type RawClient,
  type RawGateway,
} from '../world/raw-gateway.ts';
import { until } from '../world/until.ts';
import { modern } from './bare-client.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const SERVER = at('../fixtures/task-server.mjs');
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const TOKEN = 'a-token-for-tests-of-tasks';
const CARRIERS: readonly Carrier[] = ['stdio', 'http'];

interface World {
  readonly gateway: RawGateway;
  finish(id: string): void;
  args(id: string): Json;
}

async function open(entry: Json = { backgroundAfter: 1 }): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'plugboard-background-'));
  onTestFinished(() => removeHome(dir));
  const t = { command: process.execPath, args: [SERVER], approval: 'approve' as const, ...entry };
  const gateway = await openRawGateway({}, { servers: { t } });
  onTestFinished(() => gateway.close());
  return {
    gateway,
    finish: (id) => writeFileSync(join(dir, id), ''),
    args: (id) => ({ file: join(dir, id), id }),
  };
}

const call = (client: RawClient, name: string, args: Json, more: Json = {}): Promise<Json> =>
  client.request('tools/call', { name, arguments: args, ...more });

function textOf(result: Json): string {
  const [block] = result['content'] as { text: string }[];
  return block?.text ?? '';
}

const idIn = (result: Json): string => /task ([0-9a-f]{28})/.exec(textOf(result))?.[1] ?? '';
const jsonOf = (result: Json): Json => JSON.parse(textOf(result)) as Json;

async function toolNames(client: RawClient): Promise<string[]> {
  const { tools } = await client.request('tools/list');
  return (tools as { name: string }[]).map(({ name }) => name);
}

const TOOLS = ['task_status', 'task_result', 'task_cancel', 'task_list'];

describe.each(CARRIERS)('a client over %s', (carrier) => {
  it.each(['legacy', 'modern'] as const)(
    'SRV-12: without tasks (%s) gets the id of a long call, and tools that read only its tasks',
    async (era) => {
      const { gateway, finish, args } = await open();
      const client = await gateway.client(era, carrier);
      expect(await toolNames(client)).toEqual(['t__ask', 't__wait', ...TOOLS]);
      const id = idIn(await call(client, 't__wait', args('a')));
      expect(jsonOf(await call(client, 'task_status', { id }))).toMatchObject({
        id,
        status: 'working',
        tool: 'wait',
      });
      expect(jsonOf(await call(client, 'task_result', { id }))).toMatchObject({ status: 'working' });
      const waiting = call(client, 'task_result', { id, wait: 45 });
      finish('a');
      expect(textOf(await waiting)).toBe('a is done');
      expect(textOf(await call(client, 'task_result', { id }))).toBe('a is done');
      const other = idIn(await call(client, 't__wait', args('b')));
      expect(jsonOf(await call(client, 'task_cancel', { id: other }))).toMatchObject({ status: 'cancelled' });
      expect(jsonOf(await call(client, 'task_list', {}))).toMatchObject({
        tasks: [
          { id: other, status: 'cancelled' },
          { id, status: 'completed' },
        ],
      });
      expect(await call(client, 'task_result', { id: other })).toMatchObject({ isError: true });
      const unknown = await call(client, 'task_status', { id: '0'.repeat(28) });
      expect(unknown).toMatchObject({ isError: true, _meta: { 'plugboard/code': 'UNKNOWN_TASK' } });
    },
  );

  it('SRV-12: with the extension gets a task in its own way', async () => {
    const { gateway, finish, args } = await open();
    const client = await gateway.client('modern', carrier, TASKS);
    expect(await toolNames(client)).toEqual(['t__ask', 't__wait']);
    const created = await call(client, 't__wait', args('a'));
    expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 604_800_000 });
    const { taskId } = created;
    expect(await client.request('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
    finish('a');
    let state: Json = {};
    await until('it is completed', async () => {
      state = await client.request('tasks/get', { taskId });
      return state['status'] === 'completed';
    });
    expect(state['result']).toMatchObject({ content: [{ type: 'text', text: 'a is done' }] });
    const { taskId: other } = await call(client, 't__wait', args('b'));
    expect(await client.request('tasks/cancel', { taskId: other })).toMatchObject({});
    expect(await client.request('tasks/get', { taskId: other })).toMatchObject({ status: 'cancelled' });
  });

  it('SRV-12: of 2025-11-25 that requests a task gets one, also from a server without tasks', async () => {
    const { gateway, finish, args } = await open();
    const client = await gateway.client('legacy', carrier);
    const { tools } = await client.request('tools/list');
    expect(tools).toContainEqual(
      expect.objectContaining({ name: 't__wait', execution: { taskSupport: 'optional' } }),
    );
    const { task } = await call(client, 't__wait', args('a'), { task: { ttl: 60_000 } });
    expect(task).toMatchObject({ status: 'working', ttl: 60_000 });
    const { taskId } = task as Json;
    const result = client.request('tasks/result', { taskId });
    finish('a');
    expect(textOf(await result)).toBe('a is done');
    expect(await client.request('tasks/get', { taskId })).toMatchObject({ status: 'completed' });
    expect(await client.request('tasks/list')).toMatchObject({ tasks: [{ taskId, status: 'completed' }] });
    expect(await client.answer('tasks/cancel', { taskId })).toMatchObject({ error: { code: -32602 } });
  });
});

it('SRV-12: without backgroundAfter, a client without tasks waits, and has no more tools', async () => {
  const { gateway, finish, args } = await open({});
  const client = await gateway.client('legacy', 'http');
  expect(await toolNames(client)).toEqual(['t__ask', 't__wait']);
  finish('a');
  expect(textOf(await call(client, 't__wait', args('a')))).toBe('a is done');
  expect(await client.answer('tools/call', { name: 'task_list' })).toMatchObject({ error: { code: -32602 } });
  expect(
    await client.answer('tools/call', { name: 't__wait', arguments: args('a'), task: {} }),
  ).toMatchObject({
    error: { code: -32601 },
  });
});

it('SRV-12: a tool, a server and the defaults set it, the nearest first; a call that ends in time has no task', async () => {
  const { gateway, finish, args } = await open({
    backgroundAfter: 1,
    tools: { wait: { backgroundAfter: 600_000 } },
  });
  const client = await gateway.client('legacy', 'http');
  finish('a');
  expect(textOf(await call(client, 't__wait', args('a')))).toBe('a is done');
  expect(jsonOf(await call(client, 'task_list', {}))).toEqual({ tasks: [] });
});

describe('a gateway that is killed', () => {
  /** `plugboard serve --http`, with its own servers. */
  class Served {
    readonly dir = mkdtempSync(join(tmpdir(), 'plugboard-killed-'));
    #child: ChildProcess | undefined;
    url = '';

    constructor() {
      const home = join(this.dir, 'home');
      mkdirSync(home);
      const t = { command: process.execPath, args: [SERVER], approval: 'approve', backgroundAfter: 1 };
      writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers: { t } }));
      onTestFinished(async () => {
        await this.kill();
        removeHome(this.dir);
      });
    }

    async start(): Promise<void> {
      const port = this.url === '' ? '0' : new URL(this.url).port;
      const env = { ...process.env, PLUGBOARD_HOME: join(this.dir, 'home'), PLUGBOARD_CREDENTIALS: 'file' };
      const args = [at('../../dist/cli/main.js'), 'serve', '--http', port, '--token', TOKEN, '--own'];
      const child = spawn(process.execPath, args, {
        cwd: this.dir,
        env,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      this.#child = child;
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
      while (!printed.endsWith('Ctrl-C to stop.\n')) await once(child.stdout, 'data');
      this.url = /at (http:\S+)/.exec(printed)?.[1] ?? '';
    }

    async kill(): Promise<void> {
      const child = this.#child;
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }

    async request(method: string, params: Json, capabilities: Json = {}): Promise<Json> {
      const { messages } = await modern(this.url, 1, method, params, capabilities, {
        authorization: `Bearer ${TOKEN}`,
      });
      const { result, error } = messages.at(-1) ?? {};
      return (result ?? { error }) as Json;
    }
  }

  it('SRV-12: keeps finished results and reports running calls as lost, to clients with and without tasks', async () => {
    const served = new Served();
    const log = join(served.dir, 'log');
    const args = (id: string): Json => ({ file: join(served.dir, id), log, id });
    const calls = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []);
    await served.start();
    // A call of a tool that is not known yet is waited for: its keys are not known either.
    const isKnown = async (): Promise<boolean> =>
      JSON.stringify(await served.request('tools/list', {})).includes('t__wait');
    await until('the tools are known', isKnown);
    const begin = (id: string, capabilities: Json): Promise<Json> =>
      served.request('tools/call', { name: 't__wait', arguments: args(id) }, capabilities);
    const [text, lostText] = [idIn(await begin('a', {})), idIn(await begin('b', {}))];
    const { taskId } = await begin('c', TASKS);
    const { taskId: lost } = await begin('d', TASKS);
    for (const id of ['a', 'c']) writeFileSync(join(served.dir, id), '');
    const statusOf = async (id: unknown): Promise<unknown> =>
      (await served.request('tasks/get', { taskId: id }, TASKS))['status'];
    await until('the tasks end', async () => (await statusOf(taskId)) === 'completed');
    const result = (id: string): Promise<Json> =>
      served.request('tools/call', { name: 'task_result', arguments: { id, wait: 45 } });
    expect(textOf(await result(text))).toBe('a is done');
    await served.kill();
    await served.start();
    expect(textOf(await result(text))).toBe('a is done');
    expect(await served.request('tasks/get', { taskId }, TASKS)).toMatchObject({
      status: 'completed',
      result: { content: [{ type: 'text', text: 'c is done' }] },
    });
    expect(await result(lostText)).toMatchObject({ isError: true });
    expect(jsonOf(await result(lostText))).toMatchObject({ status: 'lost', error: { code: 'TASK_LOST' } });
    expect(await served.request('tasks/get', { taskId: lost }, TASKS)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('the process that ran it has ended') },
    });
    expect(calls().sort()).toEqual(['a', 'b', 'c', 'd']);
  });
});
