import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DaemonWorld } from '../world/daemon-world.ts';
import { until } from '../world/until.ts';
import { FIXTURES } from './command.ts';

interface Failed {
  readonly code: number;
  readonly stdout: string;
}

/** A home with the server `t`, whose calls end when their file exists. */
function taskWorld(): DaemonWorld & { finish(id: string): void; args(id: string): string[] } {
  const world = new DaemonWorld();
  onTestFinished(() => world.close());
  world.configure({
    t: { command: process.execPath, args: [join(FIXTURES, 'task-server.mjs')], approval: 'approve' },
  });
  return Object.assign(world, {
    finish: (id: string) => writeFileSync(join(world.project, id), ''),
    args: (id: string) => [
      `file=${join(world.project, id)}`,
      `log=${join(world.project, 'log')}`,
      `id=${id}`,
    ],
  });
}

async function failed(work: Promise<unknown>): Promise<{ status: number; code: string }> {
  const { code, stdout } = (await work.then(
    () => expect.fail('it exited with 0'),
    (error: unknown) => error,
  )) as Failed;
  return { status: code, code: JSON.parse(stdout).error.code };
}

it('SRV-12: call --background prints the id of a task, which goes on after the command and is found by its id', async () => {
  const world = taskWorld();
  const { task } = await world.command<{ task: string }>(
    'call',
    '--background',
    't',
    'wait',
    ...world.args('a'),
  );
  expect(await world.command('tasks', 'result', task)).toEqual({ status: 'working' });
  expect(await world.command('tasks')).toMatchObject({
    tasks: [{ id: task, status: 'working', server: 't', tool: 'wait', name: 'mcp__t__wait' }],
  });
  const watch = world.run(['tasks', 'watch', task]);
  world.finish('a');
  expect((await watch).stdout).toBe('a is done');
  const result = await world.command('tasks', 'result', task);
  expect(result).toMatchObject({ content: [{ type: 'text', text: 'a is done' }], isError: false });
  expect((await world.run(['tasks'])).stdout).toMatch(new RegExp(`^${task} +t wait +completed`));
});

it('SRV-12: tasks cancel ends the call, and tasks watch --json prints a document for each state', async () => {
  const world = taskWorld();
  const { task } = await world.command<{ task: string }>(
    'call',
    '--background',
    't',
    'wait',
    ...world.args('a'),
  );
  const watched = failed(world.run(['--json', 'tasks', 'watch', task])).catch(() => undefined);
  expect(await world.command('tasks', 'cancel', task)).toMatchObject({ id: task, status: 'cancelled' });
  expect(await failed(world.run(['--json', 'tasks', 'result', task]))).toEqual({
    status: 130,
    code: 'CANCELLED',
  });
  await watched;
});

it('SRV-12: a killed daemon keeps finished results; its running calls are lost, and not repeated', async () => {
  const world = taskWorld();
  world.finish('a');
  const call = (id: string): Promise<{ task: string }> =>
    world.command('call', '--background', 't', 'wait', ...world.args(id));
  const { task: finished } = await call('a');
  await world.run(['tasks', 'watch', finished]);
  const { task: running } = await call('b');
  const calls = (): string => readFileSync(join(world.project, 'log'), 'utf8');
  await until('the server has the call', () => calls() === 'a\nb\n');
  process.kill(await world.daemon(), 'SIGKILL');
  await until('the daemon is gone', () => world.daemonProcesses().length === 0);
  expect(await world.command('tasks', 'result', finished)).toMatchObject({ isError: false });
  expect(await failed(world.run(['--json', 'tasks', 'result', running]))).toEqual({
    status: 3,
    code: 'TASK_LOST',
  });
  await world.command('call', 't', 'wait', ...world.args('a'));
  expect(calls()).toBe('a\nb\na\n');
});

it('tasks without an id, and with one that is not known, have a clear error', async () => {
  const world = taskWorld();
  expect(await failed(world.run(['--json', 'tasks', 'result', 'x']))).toEqual({
    status: 2,
    code: 'UNKNOWN_TASK',
  });
  expect(await failed(world.run(['--json', 'tasks', 'watch']))).toEqual({ status: 2, code: 'USAGE' });
  expect(
    await failed(
      world.run(['--json', 'call', '--background', 't', 'wait', 'file=x'], { PLUGBOARD_DAEMON: '0' }),
    ),
  ).toEqual({ status: 2, code: 'USAGE' });
});
