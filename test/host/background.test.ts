import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHost, type Host, type HostOptions, type TaskInfo } from '../../src/index.ts';
import { createGate, scriptedServer } from '../../src/testing/index.ts';
import { text } from '../world/content.ts';
import { failure } from '../world/failure.ts';
import { type Scratch, scratch } from '../world/scratch.ts';
import { type ScriptedHost, scriptedHost } from '../world/scripted-host.ts';
import { until } from '../world/until.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** A home whose config.json has the server `t`, with files by which its calls end. */
class TaskWorld {
  readonly scratch: Scratch = scratch();
  readonly home: string = this.scratch.home.dir;
  readonly log: string = join(this.scratch.root, 'calls');

  constructor() {
    const server = { command: process.execPath, args: [fixture('task-server.mjs')], approval: 'approve' };
    this.scratch.write(join(this.home, 'config.json'), JSON.stringify({ mcpServers: { t: server } }));
  }

  args(id: string): Record<string, unknown> {
    return { file: join(this.scratch.root, id), log: this.log, id };
  }

  /** Lets a call end. */
  finish(id: string): void {
    this.scratch.write(id, '');
  }

  async host(options: Partial<HostOptions> = {}): Promise<Host> {
    const host = await createHost({ home: this.home, cwd: this.home, watch: false, ...options });
    onTestFinished(() => host.close());
    await host.ready();
    return host;
  }

  /** Begins calls in another process; resolves to it and the ids of their tasks. */
  async elsewhere(calls: readonly { id: string; waits?: boolean }[]): Promise<[ChildProcess, string[]]> {
    const given = calls.map(({ id, waits }) => ({ name: 'mcp__t__wait', args: this.args(id), waits }));
    const child = spawn(process.execPath, [fixture('task-host.mjs'), this.home, JSON.stringify(given)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ids: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      ids.push(line);
      if (ids.length === calls.length) break;
    }
    return [child, ids];
  }

  calls(): string[] {
    return readFileSync(this.log, 'utf8').trimEnd().split('\n');
  }
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** A host whose tool `work` ends when the test opens its gate. */
async function gated(
  more: Parameters<typeof scriptedHost>[0] = {},
): Promise<ScriptedHost & { open: () => void }> {
  const { open, opened } = createGate();
  const server = scriptedServer({
    tools: {
      work: {
        inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
        run: () => opened.then(() => 'done'),
      },
    },
  });
  const made = await scriptedHost({ server, ...more });
  onTestFinished(() => made.host.close());
  return { ...made, open };
}

describe('calls in the background', () => {
  it('SRV-12: returns a handle at once, with progress, status and the result of the call', async () => {
    const world = new TaskWorld();
    const host = await world.host();
    const task = await host.call('mcp__t__wait', world.args('a'), { background: true });
    expect([task.status, task.info.tool, task.info.server]).toEqual(['working', 'wait', 't']);
    const seen: TaskInfo[] = [];
    task.on('changed', (info) => seen.push(info));
    await until('it reports progress', () => task.info.message === 'waiting for a');
    expect(task.info).toMatchObject({ progress: 1, total: 2 });
    world.finish('a');
    expect(await task.result()).toMatchObject({ content: [text('a is done')], isError: false });
    expect(task.status).toBe('completed');
    expect(seen.at(-1)?.status).toBe('completed');
    expect(await host.tasks()).toEqual([task.info]);
    expect(world.calls()).toEqual(['a']);
  });

  it('SRV-12: stores tasks so that only their user can read them', async () => {
    const world = new TaskWorld();
    const host = await world.host();
    world.finish('a');
    await (await host.call('mcp__t__wait', world.args('a'), { background: true })).result();
    const folder = join(world.home, 'tasks');
    const modes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => {
      const info = statSync(join(folder, file));
      return [info.isDirectory(), info.mode & 0o777] as const;
    });
    expect(new Set(modes.map(([isFolder, mode]) => mode === (isFolder ? 0o700 : 0o600)))).toEqual(
      new Set([true]),
    );
  });

  it('a call that is refused rejects, and has no task', async () => {
    const made = await gated({ approve: () => 'deny' });
    const call = (name: string, args: Record<string, unknown>): Promise<unknown> =>
      made.host.call(name, args, { background: true });
    expect((await failure(call('mcp__s__none', {}))).code).toBe('UNKNOWN_TOOL');
    expect((await failure(call('mcp__s__work', { a: 'x' }))).code).toBe('INVALID_ARGUMENTS');
    expect((await failure(call('mcp__s__work', {}))).code).toBe('DENIED');
    expect(await made.host.tasks()).toEqual([]);
  });

  it('a tool that reports a failure completes its task; an error of the server fails it', async () => {
    const server = scriptedServer({
      tools: {
        reports: () => ({ content: [text('no')], isError: true }),
        breaks: () => 'never',
      },
    });
    const { host } = await scriptedHost({ server });
    onTestFinished(() => host.close());
    const reported = await host.call('mcp__s__reports', {}, { background: true });
    expect(await reported.result()).toMatchObject({ content: [text('no')], isError: true });
    server.once('tools/call', ({ crash }) => crash(3));
    const broken = await host.call('mcp__s__breaks', {}, { background: true });
    expect((await failure(broken.result())).code).toBe('CONNECTION_LOST');
    expect(broken.info).toMatchObject({ status: 'failed', error: { code: 'CONNECTION_LOST' } });
  });

  it('is cancelled at its server, and stays so', async () => {
    const world = new TaskWorld();
    const host = await world.host();
    const task = await host.call('mcp__t__wait', world.args('a'), { background: true });
    await task.cancel();
    expect(task.status).toBe('cancelled');
    expect((await failure(task.result())).code).toBe('CANCELLED');
    await task.cancel();
    expect(task.status).toBe('cancelled');
  });

  it('needs input while a question of its server is open', async () => {
    const world = new TaskWorld();
    const { open, opened } = createGate();
    const host = await world.host({
      elicit: () => opened.then(() => ({ action: 'accept' as const, content: { name: 'Ada' } })),
    });
    const task = await host.call('mcp__t__ask', {}, { background: true });
    await until('the question is asked', () => task.status === 'input_required');
    open();
    const { content } = await task.result();
    expect(JSON.parse(content[0]?.type === 'text' ? content[0].text : '')).toMatchObject({
      action: 'accept',
    });
  });

  it('outlives its session, whose other calls are cancelled', async () => {
    const made = await gated({ manyAgents: true, entry: { shared: false } });
    const session = made.host.session({ approve: () => 'allow', stateOf: 'session' });
    const task = await session.call('mcp__s__work', {}, { background: true });
    const other = failure(session.call('mcp__s__work', {}));
    await until('both are called', () => {
      const calls = made.server.received.filter((each) => 'method' in each && each.method === 'tools/call');
      return calls.length === 2;
    });
    session.end();
    expect((await other).code).toBe('CANCELLED');
    made.open();
    expect(await task.result()).toMatchObject({ content: [text('done')], isError: false });
  });

  it('works without a home, in this process', async () => {
    const made = await gated({ home: false });
    const task = await made.host.call('mcp__s__work', {}, { background: true });
    made.open();
    expect(await (await made.host.task(task.id)).result()).toMatchObject({
      content: [text('done')],
      isError: false,
    });
  });
});

describe('tasks of other processes', () => {
  it('SRV-12: are found, awaited and cancelled by their id', async () => {
    const world = new TaskWorld();
    const [, [first = '', second = '']] = await world.elsewhere([{ id: 'a' }, { id: 'b' }]);
    const host = await world.host();
    const task = await host.task(first);
    expect(task.status).toBe('working');
    const result = task.result();
    world.finish('a');
    expect(await result).toMatchObject({ content: [text('a is done')], isError: false });
    const other = await host.task(second);
    await other.cancel();
    expect(other.status).toBe('cancelled');
  });

  it('SRV-12: keep a finished result when their process is killed; a running call is lost once and not repeated', async () => {
    const world = new TaskWorld();
    world.finish('a');
    const [child, [finished = '', running = '']] = await world.elsewhere([
      { id: 'a', waits: true },
      { id: 'b' },
    ]);
    await until('both run', () => world.calls().length === 2);
    await killed(child);
    const logs: string[] = [];
    const host = await world.host({ log: ({ message }) => logs.push(message) });
    expect(await (await host.task(finished)).result()).toMatchObject({ content: [text('a is done')] });
    const lost = await host.task(running);
    expect(lost.info).toMatchObject({ status: 'lost', error: { code: 'TASK_LOST' } });
    expect((await failure(lost.result())).code).toBe('TASK_LOST');
    const again = await world.host({ log: ({ message }) => logs.push(message) });
    expect((await again.tasks()).map(({ status }) => status).sort()).toEqual(['completed', 'lost']);
    expect(logs.filter((message) => message.includes('is lost'))).toHaveLength(1);
    expect(world.calls()).toEqual(['a', 'b']);
  });

  it('a result that was stored before its process was killed is not lost', async () => {
    const world = new TaskWorld();
    const [child, [id = '']] = await world.elsewhere([{ id: 'a' }]);
    await killed(child);
    const result = { content: [text('a is done')], isError: false };
    writeFileSync(join(world.home, 'tasks', id.slice(0, 8), `${id}.result`), JSON.stringify(result));
    const host = await world.host();
    expect(await (await host.task(id)).result()).toEqual(result);
  });
});

describe('bounds of tasks', () => {
  it('a task expires after seven days, also for a handle that was read before', async () => {
    const made = await gated();
    made.open();
    const task = await made.host.call('mcp__s__work', {}, { background: true });
    await task.result();
    await made.clock.advance(7 * DAY_MS);
    expect((await failure(task.result())).code).toBe('UNKNOWN_TASK');
    expect((await failure(task.refresh())).code).toBe('UNKNOWN_TASK');
    expect(await made.host.tasks()).toEqual([]);
    // The next task deletes the files of this one.
    await (await made.host.call('mcp__s__work', {}, { background: true })).result();
    await made.host.close();
    const files = readdirSync(join(made.home, 'tasks'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => file.includes(task.id))).toEqual([]);
  });

  it('a result that is deleted while it is awaited is unknown', async () => {
    const made = await gated();
    made.open();
    const task = await made.host.call('mcp__s__work', {}, { background: true });
    await task.result();
    rmSync(join(made.home, 'tasks', task.id.slice(0, 8), `${task.id}.result`));
    expect((await failure(task.result())).code).toBe('UNKNOWN_TASK');
  });

  it('one owner runs at most 100 tasks', async () => {
    const made = await gated({ entry: { maxConcurrentCalls: 1_000 } });
    const call = (): Promise<{ result(): Promise<unknown> }> =>
      made.host.call('mcp__s__work', {}, { background: true });
    const tasks = await Promise.all(Array.from({ length: 100 }, call));
    expect(await failure(call())).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: '100 tasks are running already',
    });
    made.open();
    await Promise.all(tasks.map((task) => task.result()));
    await (await call()).result();
  });

  it('keeps the newest 1,000 tasks of an owner', async () => {
    const made = await gated();
    made.open();
    const first = await made.host.call('mcp__s__work', {}, { background: true });
    await first.result();
    const folder = join(made.home, 'tasks', first.id.slice(0, 8));
    const record = JSON.parse(readFileSync(join(folder, `${first.id}.json`), 'utf8')) as Record<
      string,
      unknown
    >;
    for (let count = 0; count < 1_000; count++) {
      const id = `${first.id.slice(0, 8)}${count.toString(16).padStart(20, '0')}`;
      const createdAt = Number(record['createdAt']) + 1;
      writeFileSync(join(folder, `${id}.json`), JSON.stringify({ ...record, id, createdAt }));
    }
    await made.clock.advance(10);
    for (let count = 0; count < 16; count++)
      await (await made.host.call('mcp__s__work', {}, { background: true })).result();
    const kept = await made.host.tasks();
    expect(kept.length).toBeLessThanOrEqual(1_016);
    expect(kept.some(({ id }) => id === first.id)).toBe(false);
  });

  it('a call whose task cannot be stored is not started', async () => {
    const made = await gated();
    mkdirSync(made.home, { recursive: true });
    writeFileSync(join(made.home, 'tasks'), 'not a folder');
    expect(await failure(made.host.call('mcp__s__work', {}, { background: true }))).toMatchObject({
      code: 'STORE_FAILED',
      hint: 'Free disk space, or make the folder "tasks" in the home folder writable.',
    });
    expect(made.server.received.some((each) => 'method' in each && each.method === 'tools/call')).toBe(false);
  });

  it('a result that cannot be stored is kept in memory, and stored when there is space again', async () => {
    const made = await gated();
    const task = await made.host.call('mcp__s__work', {}, { background: true });
    const file = join(made.home, 'tasks', task.id.slice(0, 8), `${task.id}.result`);
    mkdirSync(join(file, 'in the way'), { recursive: true });
    made.open();
    expect(await task.result()).toMatchObject({ content: [text('done')], isError: false });
    expect(made.events('log')).toMatchObject([
      { level: 'error', message: expect.stringMatching(/^Tasks cannot be written/) },
    ]);
    rmSync(file, { recursive: true });
    await made.clock.advance(5_000);
    await until('it is stored', () => statSync(file, { throwIfNoEntry: false })?.isFile() === true);
    expect(await task.result()).toMatchObject({ content: [text('done')], isError: false });
  });

  it('a damaged record is skipped', async () => {
    const made = await gated();
    made.open();
    const task = await made.host.call('mcp__s__work', {}, { background: true });
    await task.result();
    writeFileSync(join(made.home, 'tasks', task.id.slice(0, 8), `${task.id}.json`), '{"id":');
    expect(await made.host.tasks()).toEqual([]);
    expect((await failure(made.host.task('../../config'))).code).toBe('UNKNOWN_TASK');
  });
});
