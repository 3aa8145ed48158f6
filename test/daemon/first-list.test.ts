/** CON-16: sessions of the daemon are short, so what they learn about a server that hangs has to outlive them. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DaemonWorld } from '../world/daemon-world.ts';
import { until } from '../world/until.ts';

/** Longer than a test: a wait for it does not end in time. */
const FOR_EVER_MS = 600_000;
const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url));

let world: DaemonWorld;
beforeEach(() => {
  world = new DaemonWorld();
});
afterEach(() => world.close());

const hangs = (): object => ({
  command: process.execPath,
  args: [join(FIXTURES, 'cli-silent.mjs')],
  startupTimeoutMs: FOR_EVER_MS,
});

/** Servers of the listed tools in the first answer to a new agent. */
async function firstList(
  words?: readonly string[],
): Promise<{ servers: string[]; leave: () => Promise<void> }> {
  const agent = await world.agent(words === undefined ? {} : { words }).open();
  const { tools } = (await agent.request('tools/list')) as { tools: { name: string }[] };
  return {
    servers: [...new Set(tools.map(({ name }) => name.split('__')[0] ?? ''))],
    leave: async () => {
      agent.child.stdin?.end();
      await agent.exited;
    },
  };
}

/** The good server is known, the other is not. */
async function knownAndNew(): Promise<void> {
  world.configure({ s: world.server() }, { workspace: false });
  await world.run(['tools', 's']);
  world.configure({ s: world.server(), hangs: hangs() }, { workspace: false, firstListWaitMs: 1000 });
}

function waitForEver(): void {
  world.configure({ s: world.server(), hangs: hangs() }, { workspace: false, firstListWaitMs: FOR_EVER_MS });
}

it('CON-16: every session has the tools of the good servers, the second at once', async () => {
  await knownAndNew();
  const first = await firstList();
  await first.leave();
  waitForEver();
  const second = await firstList();
  expect([first.servers, second.servers]).toEqual([['s'], ['s']]);
});

it('CON-16: in a folder where no server ever ran, a session has the same tools at once', async () => {
  await knownAndNew();
  await (await firstList()).leave();
  waitForEver();
  const elsewhere = join(world.home, '..', 'elsewhere');
  mkdirSync(elsewhere);
  expect((await firstList(['--stdio', '--cwd', elsewhere])).servers).toEqual(['s']);
});

it('CON-16: a daemon that is killed has recorded who did not answer', async () => {
  await knownAndNew();
  const first = await firstList();
  const killed = await world.daemon();
  process.kill(killed, 'SIGKILL');
  // The session starts another one.
  await until('it has ended', () => !world.daemonProcesses().includes(killed));
  await first.leave();
  waitForEver();
  expect((await firstList()).servers).toEqual(['s']);
});

it('CON-16: commands list the same with a daemon as without', async () => {
  await knownAndNew();
  const commands = [['tools'], ['search', 'echo'], ['resources'], ['prompts']];
  const list = (env: NodeJS.ProcessEnv): Promise<unknown[]> =>
    Promise.all(commands.map((words) => world.run(['--json', ...words], env)));
  await world.run(['resources', 's']);
  await world.run(['prompts', 's']);
  await world.run(['tools']);
  const alone = await list({ PLUGBOARD_DAEMON: '0' });
  await world.command('daemon', 'start');
  const there = await list({});
  expect(there).toEqual(alone);
});
