/** CON-11: what the daemon reports about itself, how one build follows another, and what happens without a daemon. */

import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isOurs } from '../../src/daemon/protocol/daemon-place.ts';
import { onTerminal } from '../cli/on-terminal.ts';
import { DaemonWorld } from '../world/daemon-world.ts';
import { isRunning } from '../world/processes.ts';
import { until } from '../world/until.ts';
import type { Agent } from './agent.ts';

/** Two builds, each with a daemon to start and to end. */
const TWO_BUILDS_MS = 60_000;

let world: DaemonWorld;
beforeEach(() => {
  world = new DaemonWorld();
});
afterEach(() => world.close());

async function resourceUpdates({ notifications }: Agent): Promise<unknown[]> {
  const isUpdate = ({ method }: Record<string, unknown>): boolean =>
    method === 'notifications/resources/updated';
  await until('an update has come', () => notifications.some(isUpdate));
  return notifications.filter(isUpdate).map(({ params }) => params);
}

it('CON-11: a server that keeps state serves each agent from its own process, and the status counts all of them', async () => {
  world.configure({ s: world.server({ shared: false }) });
  const [a, b] = await Promise.all([world.agent().open(), world.agent().open()]);
  const pids = [await a.call('pid'), await b.call('pid')];
  const complete = async (agent: Agent): Promise<unknown> => {
    const ref = { type: 'ref/prompt', name: 's__greet' };
    return (await agent.request('completion/complete', { ref, argument: { name: 'who', value: 'A' } }))[
      'completion'
    ];
  };
  await b.request('resources/subscribe', { uri: 'memo://now' });
  await b.call('touch');
  const [daemon] = await world.daemons();
  const used = daemon?.hosts.flatMap(({ servers }) => servers.filter(({ name }) => name === 's'));
  expect({
    apart: new Set(pids).size,
    completions: [await complete(a), await complete(b)],
    updates: await resourceUpdates(b),
    processes: used?.map(({ pid, processes }) => ({ pid, processes })),
    bytes: (used?.[0]?.bytes ?? 0) > 0,
    untold: a.notifications.filter(({ method }) => method === 'notifications/resources/updated'),
  }).toEqual({
    apart: 2,
    completions: pids.map((pid) => ({ values: ['A!', pid] })),
    updates: [{ uri: 'memo://now' }],
    processes: [{ pid: Number(pids[0]), processes: 2 }],
    bytes: true,
    untold: [],
  });
});

it(
  'SRV-11: a newer build replaces the daemon under its sessions, an older one uses it, and no call is lost',
  async () => {
    world.configure({ s: world.server() });
    const agent = await world.agent().open();
    const first = await world.daemon();
    const running = agent.request('tools/call', { name: 's__wait', arguments: {} }).catch((error) => error);
    // Behind the call on the same connection: when it is answered, the call has arrived.
    await agent.call('echo', { text: 'there' });

    const program = world.otherBuild();
    const newer = await world.agent({ program }).open();
    const second = await world.daemon();
    const apart = (await newer.call('pid')) !== (await agent.call('pid'));
    // The old daemon serves the call that runs until it is answered, and then ends.
    agent.send({ method: 'notifications/cancelled', params: { requestId: 2 } });
    await until('the old daemon has ended', () => !isRunning(first));
    const pids = await Promise.all([agent.call('pid'), newer.call('pid')]);
    const older = await world.agent().open();
    pids.push(await older.call('pid'));
    const { sessions = [] } = (await world.daemons())[0] ?? {};
    expect({
      isNew: second !== first,
      apart,
      shared: new Set(pids).size,
      daemons: world.daemonProcesses(),
      sessions: sessions.length,
    }).toEqual({ isNew: true, apart: true, shared: 1, daemons: [second], sessions: 3 });
    void running;
  },
  TWO_BUILDS_MS,
);

it(
  'SRV-11: a daemon whose program is upgraded on disk makes room by itself, and one that stays has a successor',
  async () => {
    world.configure({ s: world.server() });
    const program = world.otherBuild();
    await world.run(['daemon', 'start'], {}, program);
    const first = await world.daemon();
    const agent = await world.agent({ program }).open();
    await agent.call('pid');
    const entry = join(dirname(program), 'daemon.cjs');
    writeFileSync(entry, `${readFileSync(entry, 'utf8')}\n`);
    await until('the old daemon has ended', () => !isRunning(first));
    const [successor] = await world.daemons();
    const still = await agent.call('echo', { text: 'still' });
    expect({ still, stays: successor?.stays, daemons: world.daemonProcesses() }).toEqual({
      still: 'still',
      stays: true,
      daemons: [successor?.pid],
    });
  },
  TWO_BUILDS_MS,
);

it('SRV-11: variables that Node reads at start make no second daemon', async () => {
  world.configure({ s: world.server() });
  // The second and third lack a variable that only the first one has, as agents do that pass few of them on.
  const first = await world.agent({ env: { SSL_CERT_DIR: '/etc/ssl/certs' } }).open();
  const [a, b, c] = await Promise.all(
    [
      { SSL_CERT_DIR: '/etc/ssl/certs' },
      { NODE_OPTIONS: '--no-deprecation' },
      { NODE_PENDING_DEPRECATION: '1' },
    ].map((env) => world.agent({ env }).open()),
  );
  const pids = await Promise.all([first, a, b, c].map((agent) => agent?.call('pid')));
  expect([new Set(pids).size, world.daemonProcesses().length]).toEqual([1, 1]);
});

it('CON-11: a folder that others could enter is closed to them, and what another user wrote is not read', async () => {
  world.configure({ s: world.server() });
  const run = join(world.home, 'run');
  mkdirSync(run);
  chmodSync(run, 0o775);
  const [a, b] = await Promise.all([world.agent().open(), world.agent().open()]);
  const pids = new Set(await Promise.all([a.call('pid'), b.call('pid')]));
  const uid = process.getuid?.() ?? 0;
  expect({
    pids: pids.size,
    mode: statSync(run).mode & 0o777,
    ours: [isOurs({ uid }), isOurs({ uid: uid + 1 })],
  }).toEqual({ pids: 1, mode: 0o700, ours: [true, false] });
});

it('CON-11: an agent is served when no daemon is available, and its stderr gives the reason', async () => {
  const long = new DaemonWorld(`plugboard-${'x'.repeat(90)}-`);
  try {
    long.configure({ s: long.server() });
    // Where its socket would have to be is something else.
    writeFileSync(join(world.home, `plugboard-${process.getuid?.() ?? 0}`), '');
    const agent = long.agent({ env: { XDG_RUNTIME_DIR: world.home }, stderr: true });
    await agent.open();
    const pid = await agent.call('pid');
    expect({ pids: [Number(pid)], daemons: long.daemonProcesses(), said: agent.said }).toEqual({
      pids: long.servers(),
      daemons: [],
      said: `plugboard: servers are not shared with other agents: The daemon did not start. See ${long.home}/run/daemon.log.\n`,
    });
  } finally {
    await long.close();
  }
});

it('CON-11, CAL-2: a command that has to ask its person asks at the terminal it was typed at, and nothing was done before', async () => {
  world.configure({ s: world.server({ approval: 'prompt' }) });
  await world.command('daemon', 'start');
  const terminal = { project: world.project, home: world.home, placeless: (screen: string) => screen };
  const env = { PLUGBOARD_CREDENTIALS: 'file' };
  const answers = [{ after: 'Call echo of s?', type: 'y' }];
  const asked = await onTerminal(terminal, ['call', 's', 'echo', 'text=done'], { answers, env });
  // If no one can be asked, the daemon refuses calls that require an approval.
  const refused = await world.run(['call', 's', 'echo', 'text=done', '--json']).catch(({ stdout }) => stdout);
  expect({
    status: asked.status,
    done: asked.screen.match(/^done\r?$/gm)?.length,
    refused: JSON.parse(refused).error.code,
  }).toEqual({
    status: 0,
    done: 1,
    refused: 'APPROVAL_REQUIRED',
  });
});

it('CON-11: an agent that does not react keeps no daemon from ending', async () => {
  world.configure({ s: world.server() });
  const agent = await world.agent().open();
  const daemon = await world.daemon();
  agent.child.kill('SIGSTOP');
  const stopped = await world.command('daemon', 'stop');
  const left = { running: isRunning(daemon), servers: world.servers() };
  agent.child.kill('SIGCONT');
  expect({ stopped, left }).toEqual({ stopped: { stopped: 1 }, left: { running: false, servers: [] } });
});

it('SRV-11: the daemon runs without sessions for as long as config.json sets', async () => {
  world.configure({ s: world.server() }, { daemonIdleMs: 200 });
  const agent = await world.agent().open();
  const pid = await world.daemon();
  await agent.leave();
  await until('the daemon has ended', () => !isRunning(pid));
});
