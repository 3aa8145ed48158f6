/** CON-11: what the daemon tells about itself, how one build follows another, and what happens where none can be had. */

import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isOurs } from '../../src/remote/place.ts';
import { onTerminal } from '../cli/on-terminal.ts';
import type { Agent } from './agent.ts';
import { isRunning, until, World } from './world.ts';

/** Two builds, each with a daemon to start and to end. */
const TWO_BUILDS_MS = 60_000;

let world: World;
beforeEach(() => {
  world = new World();
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
    const ref = { type: 'ref/prompt', name: 'mcp__s__greet' };
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
  'CON-11: a new build asks an idle daemon of another to leave and stays in its place, but takes nobody away from an agent',
  async () => {
    world.configure({ s: world.server() });
    const program = world.otherBuild();
    await world.run(['daemon', 'start'], {}, program);
    const idle = await world.daemon();
    const agent = await world.agent().open();
    await until('the idle daemon of the other build has left', () => !isRunning(idle));
    await until('its successor stays', async () => (await world.daemons())[0]?.stays === true);

    const other = await world.agent({ program }).open();
    const pids = await Promise.all([agent.call('pid'), other.call('pid')]);
    const both = (await world.daemons()).map(({ sessions }) => sessions.length);
    const stopped = await world.command('daemon', 'stop');
    expect({ apart: new Set(pids).size, both, stopped, left: world.daemonProcesses() }).toEqual({
      apart: 2,
      both: [1, 1],
      stopped: { stopped: 2 },
      left: [],
    });
  },
  TWO_BUILDS_MS,
);

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

it('CON-11: an agent for whom no daemon can be had is served all the same, and its stderr says why', async () => {
  const long = new World(`plugboard-${'x'.repeat(90)}-`);
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
      said: `plugboard: this agent has servers of its own. The daemon did not start. ${long.home}/run/daemon.log says why.\n`,
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
  // Where nobody can be asked, the daemon refuses what it would have had to ask about.
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
