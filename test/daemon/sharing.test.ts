/** CON-11, F58: one set of servers for all agents, whatever happens to the daemon. Real processes throughout. */

import { lstatSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DaemonWorld } from '../world/daemon-world.ts';
import { isRunning } from '../world/processes.ts';
import { until } from '../world/until.ts';

const AGENTS = 10;
const MANY_MS = 120_000;

let world: DaemonWorld;
beforeEach(() => {
  world = new DaemonWorld();
});
afterEach(() => world.close());

// Protocol: 26-base-28
it(
  'F58: ten agents share one set of servers; the daemon is killed; one new one takes over, calls end typed, nothing is left',
  async () => {
    world.configure({ s: world.server(), t: world.server() });
    const env = { PLUGBOARD_DAEMON_IDLE_MS: '1000' };
    const agents = await Promise.all(Array.from({ length: AGENTS }, () => world.agent({ env }).open()));
    const pids = await Promise.all(agents.map((agent) => agent.call('pid')));
    const killed = await world.daemon();
    const before = { pids: new Set(pids).size, servers: world.servers().length };

    const inFlight = agents.map((agent) =>
      agent.request('tools/call', { name: 's__wait', arguments: {} }).catch((error) => error),
    );
    // Behind the call on the same connection: when it is answered, the call has arrived.
    await Promise.all(agents.map((agent) => agent.call('echo', { text: 'there' })));
    const old = world.servers();
    process.kill(killed, 'SIGKILL');
    const ends = (await Promise.all(inFlight)) as { code: number; data: object }[];
    const after = await Promise.all(agents.map((agent) => agent.call('pid')));
    await agents[0]?.call('pid', {}, 't');
    const successor = await world.daemon();
    await until('the servers of the killed daemon are gone', () => !old.some(isRunning));

    expect({
      before,
      ends: [...new Set(ends.map(({ code, data }) => JSON.stringify({ code, data })))],
      after: { pids: new Set(after).size, same: pids.includes(after[0] ?? ''), isNew: successor !== killed },
      daemons: world.daemonProcesses(),
      servers: world.servers().length,
    }).toEqual({
      before: { pids: 1, servers: 2 },
      ends: [
        JSON.stringify({
          code: -32603,
          data: {
            code: 'CONNECTION_LOST',
            hint: 'Check the result before you try again. The reason is in run/daemon.log of the configuration folder.',
          },
        }),
      ],
      after: { pids: 1, same: false, isNew: true },
      daemons: [successor],
      servers: 2,
    });

    const statuses = await Promise.all(agents.map((agent) => agent.leave()));
    // The last one out has waited for it: nothing that it alone needed outlives it.
    expect({ statuses: new Set(statuses), servers: world.servers() }).toEqual({
      statuses: new Set([0]),
      servers: [],
    });
    await until('the daemon has ended too', () => !isRunning(successor));
  },
  MANY_MS,
);

it('CON-11: an agent that is killed takes its calls and, as the last one, its servers with it', async () => {
  world.configure({ s: world.server() });
  const agent = await world.agent().open();
  void agent.request('tools/call', { name: 's__wait', arguments: {} });
  await agent.call('echo', { text: 'there' });
  const [server = 0] = world.servers();
  agent.child.kill('SIGKILL');
  await until('its server is gone', () => !isRunning(server));
});

it('CON-11: sessions that differ in a variable that a server sees have processes of their own, others share', async () => {
  world.configure({ s: world.server({ env: { SHOWN: '${SHOWN:-none}' } }) });
  const [a, b, c, d] = await Promise.all([
    world.agent({ env: { SHOWN: 'one', HIDDEN: 'x' } }).open(),
    world.agent({ env: { SHOWN: 'one', HIDDEN: 'y', TERM: 'dumb', PLUGBOARD_TOKEN: 'x' } }).open(),
    world.agent({ env: { SHOWN: 'two' } }).open(),
    world.agent({ env: { SHOWN: 'one' }, words: ['--stdio', '--cwd', world.home] }).open(),
  ]);
  const [pidA, pidB, pidC, pidD] = await Promise.all([a, b, c, d].map((agent) => agent?.call('pid')));
  const shown = await Promise.all([a, b, c].map((agent) => agent?.call('env', { name: 'SHOWN' })));
  const hidden = await b?.call('env', { name: 'HIDDEN' });
  expect({
    // A server of the person's own does not depend on the folder.
    shared: [pidB, pidD].map((pid) => pid === pidA),
    apart: pidA !== pidC,
    shown,
    hidden,
    daemons: world.daemonProcesses().length,
  }).toEqual({
    shared: [true, true],
    apart: true,
    shown: ['one', 'one', 'two'],
    hidden: 'unset',
    daemons: 1,
  });
});

it('CON-11: a server of a project is not started before it is approved, also in the daemon', async () => {
  writeFileSync(join(world.project, '.mcp.json'), JSON.stringify({ mcpServers: { s: world.server() } }));
  const agent = await world.agent({ words: ['--stdio', '--no-workspace'] }).open();
  const { tools } = await agent.request('tools/list');
  const before = { tools, servers: world.servers() };
  await world.command('trust', 's', '--yes');
  await until('the agreement is noticed', async () => {
    const { tools: now } = (await agent.request('tools/list')) as { tools: unknown[] };
    return now.length > 0;
  });
  expect({ before, pid: [Number(await agent.call('pid'))] }).toEqual({
    before: { tools: [], servers: [] },
    pid: world.servers(),
  });
});

it('SRV-3: agents that ask for the workspace server share it, others do not have it, and commands do not list it', async () => {
  world.configure({ s: world.server() });
  const agents = ['--workspace', '--workspace', '--no-workspace'].map((flag) =>
    world.agent({ words: ['--stdio', flag] }),
  );
  const lists = await Promise.all(
    agents.map(async (agent) => {
      const { tools } = (await (await agent.open()).request('tools/list')) as { tools: { name: string }[] };
      return tools.some(({ name }) => name === 'workspace__read');
    }),
  );
  const [daemon] = await world.daemons();
  const listed = await world.command<{ servers: { name: string }[] }>('list');
  const found = await world.command<{ results: { server: string }[] }>('search', 'read a file');
  expect({
    lists,
    hosts: daemon?.hosts.map(({ sessions, servers }) => [sessions, servers.map(({ name }) => name)]),
    listed: listed.servers.map(({ name }) => name),
    found: found.results.filter(({ server }) => server === 'workspace'),
  }).toEqual({
    lists: [true, true, false],
    hosts: expect.arrayContaining([
      [2, ['workspace', 's']],
      [1, ['s']],
    ]),
    listed: ['s'],
    found: [],
  });
});

it('CON-11: with --no-daemon or PLUGBOARD_DAEMON=0 each agent has servers of its own, and no daemon is started', async () => {
  world.configure({ s: world.server() });
  const agents = [
    world.agent({ words: ['--stdio', '--no-daemon'] }),
    world.agent({ env: { PLUGBOARD_DAEMON: '0' } }),
  ];
  const pids = await Promise.all(agents.map(async (agent) => (await agent.open()).call('pid')));
  expect({ pids: new Set(pids).size, daemons: world.daemonProcesses() }).toEqual({ pids: 2, daemons: [] });
  expect(await Promise.all(agents.map((agent) => agent.leave()))).toEqual([0, 0]);
});

// Protocol: 25-authorization-3, 26-authorization-3
it('CON-11: only its user can reach the daemon: private folder and socket, and a token that is asked for', async () => {
  world.configure({ s: world.server() });
  await world.agent().open();
  const run = join(world.home, 'run');
  const [socket = ''] = readdirSync(run).filter((name) => name.endsWith('.sock'));
  const [record = ''] = readdirSync(run).filter((name) => name.endsWith('.json'));
  const mode = (path: string): number => lstatSync(path).mode & 0o777;
  const stranger = createConnection(join(run, socket));
  const answer = new Promise<string>((resolve) => {
    let said = '';
    stranger.on('data', (chunk) => {
      said += String(chunk);
    });
    stranger.once('close', () => resolve(said));
  });
  stranger.write(`${JSON.stringify({ plugboard: 1, token: 'f'.repeat(64), hello: { kind: 'status' } })}\n`);
  expect({
    run: mode(run),
    socket: mode(join(run, socket)),
    record: mode(join(run, record)),
    answer: await answer,
  }).toEqual({ run: 0o700, socket: 0o600, record: 0o600, answer: '' });
});

it('CON-11: a home with a path too long for a socket has a daemon all the same', async () => {
  const long = new DaemonWorld(`plugboard-${'x'.repeat(90)}-`);
  try {
    long.configure({ s: long.server() });
    const [a, b] = await Promise.all([long.agent().open(), long.agent().open()]);
    const pids = await Promise.all([a.call('pid'), b.call('pid')]);
    expect({ pids: new Set(pids).size, daemons: long.daemonProcesses().length }).toEqual({
      pids: 1,
      daemons: 1,
    });
  } finally {
    await long.close();
  }
});

it('CON-11: a daemon whose home was taken away leaves with its last session', async () => {
  world.configure({ s: world.server() });
  const agent = await world.agent().open();
  const daemon = await world.daemon();
  renameSync(world.home, `${world.home}-taken`);
  const pid = await agent.call('pid');
  await agent.leave();
  await until('the daemon has left', () => !isRunning(daemon));
  expect(isRunning(Number(pid))).toBe(false);
});
