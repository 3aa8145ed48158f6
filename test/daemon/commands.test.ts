/** CON-11: commands that run in the daemon say and do what they would at home, on servers that are there already. */

import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ServerReport } from '../../src/host/host-report.ts';
import { DaemonWorld } from '../world/daemon-world.ts';
import { isRunning } from '../world/processes.ts';
import { until } from '../world/until.ts';

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

let world: DaemonWorld;
beforeEach(() => {
  world = new DaemonWorld();
});
afterEach(() => world.close());

async function run(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return world.run(words, env).then(
    ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ status: code, stdout, stderr }),
  );
}

it('CON-11: every command that can run there prints and ends as it does at home', async () => {
  // All at once, which takes a while; no client is dropped.
  world.configure({ s: world.server() }, { firstListWaitMs: 30_000 });
  const commands = [
    ['call', 's', 'echo', 'text=hi'],
    ['call', 's', 'echo', 'text=hi', '--json'],
    ['call', 's', 'nope'],
    ['call', 'nope', 'echo', '--json'],
    ['call', 's', 'echo', '--nope'],
    ['call'],
    ['--json', 'tools'],
    ['search', 'echo', '--json'],
    ['resources'],
    ['prompts', '--json'],
    ['read', 's', 'memo://none'],
    ['list', 'x'],
  ];
  const atHome = await Promise.all(commands.map((words) => run(words, { PLUGBOARD_DAEMON: '0' })));
  await world.command('daemon', 'start');
  const there = await Promise.all(commands.map((words) => run(words)));
  expect(there).toEqual(atHome);
});

it('reconnect replaces the process of a shared server, and needs a daemon', async () => {
  world.configure({ s: world.server() });
  const alone = await run(['reconnect', 's']);
  expect([alone.status, alone.stderr]).toEqual([2, expect.stringContaining('The daemon is not running')]);
  await world.command('daemon', 'start');
  const before = Number((await run(['call', 's', 'pid'])).stdout);
  const report = await world.command<ServerReport>('reconnect', 's');
  const after = Number((await run(['call', 's', 'pid'])).stdout);
  expect(report).toMatchObject({ name: 's', status: 'connected', pid: after });
  expect(after).not.toBe(before);
  expect(world.servers()).toEqual([after]);
  const idle = await run(['reconnect', 'nope']);
  expect([idle.status, idle.stderr]).toEqual([2, expect.stringContaining('no server called "nope"')]);
});

it('CON-11: commands share running servers, see what was just added, and list shows the state', async () => {
  world.configure({ s: world.server() });
  await world.command('daemon', 'start');
  const first = await run(['call', 's', 'pid']);
  const second = await run(['call', 's', 'pid']);
  await world.command('add', 't', '-s', 'user', '--', process.execPath, '-e', 'process.exit(3)');
  const { servers } = await world.command<{ servers: ServerReport[] }>('list');
  const [report] = await world.daemons();
  expect({
    same: first.stdout === second.stdout,
    pid: [Number(first.stdout)],
    listed: servers.map(({ name, status, pid }) => ({ name, status, pid })),
    report: report?.hosts.map(({ servers: used }) =>
      used.filter(({ name }) => name !== 'workspace').map(({ name, processes }) => ({ name, processes })),
    ),
  }).toEqual({
    same: true,
    pid: world.servers(),
    listed: [
      { name: 's', status: 'connected', pid: Number(first.stdout) },
      { name: 't', status: 'failed', pid: undefined },
    ],
    report: [
      [
        { name: 's', processes: 1 },
        { name: 't', processes: undefined },
      ],
    ],
  });
});

it('CON-11: without a daemon, a command starts none and leaves nothing behind', async () => {
  world.configure({ s: world.server() });
  const { stdout } = await run(['call', 's', 'echo', 'text=hi']);
  expect({ stdout, daemons: world.daemonProcesses(), servers: world.servers() }).toEqual({
    stdout: 'hi',
    daemons: [],
    servers: [],
  });
});

it('CON-11: with PLUGBOARD_DAEMON=1, or "daemon": true, a command starts it for itself and for those that follow', async () => {
  world.configure({ s: world.server() });
  const first = await run(['call', 's', 'pid'], { PLUGBOARD_DAEMON: '1' });
  const second = await run(['call', 's', 'pid'], { PLUGBOARD_DAEMON: '1' });
  await world.command('daemon', 'stop');
  world.configure({ s: world.server() }, { daemon: true });
  await run(['call', 's', 'echo', 'text=hi']);
  const [third, fourth] = [await run(['call', 's', 'pid']), await run(['call', 's', 'pid'])];
  expect([first.stdout === second.stdout, third.stdout === fourth.stdout]).toEqual([true, true]);
});

it('CON-11: Ctrl-C cancels a call that runs in the daemon; the daemon goes on', async () => {
  world.configure({ s: world.server() });
  await world.command('daemon', 'start');
  const { stdout: pid } = await run(['call', 's', 'pid']);
  const child = world.start('call', 's', 'wait');
  await until('the call has arrived', async () => (await world.daemons())[0]?.sessions.length === 1);
  child.kill('SIGINT');
  const [status] = await once(child, 'close');
  expect({ status, after: (await run(['call', 's', 'pid'])).stdout }).toEqual({ status: 130, after: pid });
});

it('F58: a command whose daemon is killed reports that it was lost, and is not repeated', async () => {
  world.configure({ s: world.server() });
  await world.command('daemon', 'start');
  await run(['call', 's', 'pid']);
  const lost = run(['call', 's', 'wait', '--json']);
  await until('the call has arrived', async () => (await world.daemons())[0]?.sessions.length === 1);
  process.kill(await world.daemon(), 'SIGKILL');
  const { status, stdout } = await lost;
  expect({ status, code: JSON.parse(stdout).error.code }).toEqual({ status: 3, code: 'CONNECTION_LOST' });
  await until('its server is gone', () => world.servers().length === 0);
});

it('CON-11: a daemon without work ends; one that is stopped ends at once, and agents that stay find the next', async () => {
  world.configure({ s: world.server() });
  const started = await world.run(['daemon', 'start', '--json'], { PLUGBOARD_DAEMON_IDLE_MS: '300' });
  const idle: number = JSON.parse(started.stdout).daemons[0].pid;
  await until('the idle daemon has ended', () => !isRunning(idle));
  const agent = await world.agent().open();
  const before = await agent.call('pid');
  const stopped = await world.command('daemon', 'stop');
  const gone = { servers: world.servers(), daemons: world.daemonProcesses() };
  const after = await agent.call('pid');
  expect({ stopped, gone, isNew: before !== after, status: await agent.leave() }).toEqual({
    stopped: { stopped: 1 },
    gone: { servers: [], daemons: [] },
    isNew: true,
    status: 0,
  });
});

it('CON-11: a daemon whose idle time is shorter than a connection takes still serves the command that started it', async () => {
  world.configure({ s: world.server() });
  const started = await run(['daemon', 'start', '--json'], { PLUGBOARD_DAEMON_IDLE_MS: '1' });
  expect({ status: started.status, stderr: started.stderr }).toEqual({ status: 0, stderr: '' });
  const { pid } = JSON.parse(started.stdout).daemons[0];
  await until('the idle daemon has ended', () => !isRunning(pid));
});

it('CON-11, CFG-8: a changed configuration that sees more of the environment parts sessions that differ in it', async () => {
  world.configure({ s: world.server() });
  const [a, b] = await Promise.all([
    world.agent({ env: { SHOWN: 'one' } }).open(),
    world.agent({ env: { SHOWN: 'two' } }).open(),
  ]);
  const before = new Set([await a.call('pid'), await b.call('pid')]).size;
  world.configure({ s: world.server({ env: { SHOWN: '${SHOWN}' } }) });
  await until('both have what is theirs', async () => {
    const shown = await Promise.all(
      [a, b].map((agent) => agent.call('env', { name: 'SHOWN' }).catch(String)),
    );
    return shown.join() === 'one,two';
  });
  const after = new Set([await a.call('pid'), await b.call('pid')]).size;
  expect({ before, after }).toEqual({ before: 1, after: 2 });
});

it('CON-11: reload reports how many daemons there are, and waits for the changes', async () => {
  const without = await world.command<{ reloaded: number }>('reload');
  world.configure({ s: world.server() });
  await world.command('daemon', 'start');
  await run(['call', 's', 'pid']);
  world.configure({ s: world.server(), t: world.server() });
  const { reloaded, daemons } = await world.command<{
    reloaded: number;
    daemons: { hosts: { servers: { name: string }[] }[] }[];
  }>('reload');
  const names = daemons[0]?.hosts[0]?.servers.map(({ name }) => name);
  expect([without.reloaded, reloaded, names?.includes('t')]).toEqual([0, 1, true]);
});

it('CON-11: the log of the daemon stays small, and no secret of a session is in it', async () => {
  world.configure({
    s: world.server({ env: { KEY: '${KEY}' } }),
    broken: {
      command: process.execPath,
      args: ['-e', 'console.error(process.env.KEY);process.exit(1)'],
      env: { KEY: '${KEY}' },
    },
  });
  const agent = await world.agent({ env: { KEY: 'hunter22-of-the-session' } }).open();
  await agent.call('pid');
  await agent.leave();
  const log = world.log();
  expect({ secret: log.includes('hunter22'), says: /opened the servers/.test(log) }).toEqual({
    secret: false,
    says: true,
  });
});

it('SRV-11: commands share one process of a server that keeps state, and no agent shares it', async () => {
  world.configure({ s: world.server({ shared: false }) });
  await world.command('daemon', 'start');
  const agent = await world.agent().open();
  const ofAgent = Number(await agent.call('pid'));
  const ofCommands = [];
  for (const _ of [1, 2, 3]) ofCommands.push(Number((await run(['call', 's', 'pid'])).stdout));
  expect(new Set(ofCommands).size).toBe(1);
  expect(world.servers().toSorted()).toEqual([ofAgent, ofCommands[0]].toSorted());
  await agent.leave();
  expect(Number((await run(['call', 's', 'pid'])).stdout)).toBe(ofCommands[0]);
});
