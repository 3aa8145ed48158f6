import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AGENT_MS, AgentsWorld } from '../world/agents-world.ts';
import { isRunning } from '../world/processes.ts';
import { until } from '../world/until.ts';
import type { AgentRun, Step } from './agent.ts';
import { Gate } from './gate.ts';

let world: AgentsWorld;
let runs: readonly AgentRun[];
let goOn: Gate;

/** All agents have called `notes__pid` once and wait for what happens before they call it again. */
beforeEach(async () => {
  world = await AgentsWorld.create();
  world.install();
  world.configure({ notes: world.server('notes') });
  await world.moveIn();
  const arrived = new Gate(world.agents.length);
  goOn = new Gate();
  const again: Step = async () => {
    arrived.arrive();
    await goOn.opened;
    return { call: 'notes__pid' };
  };
  runs = world.startAgents(() => [{ call: 'notes__pid' }, again]);
  await world.reached(arrived.opened, runs);
}, AGENT_MS);
afterEach(() => world.close());

/** Process ids that the agents saw before and after, each in one list when all saw the same. */
async function pids(): Promise<{ before: string[]; after: string[] }> {
  goOn.open();
  const turns = Object.values(await world.turnsOf(runs));
  const seen = (at: number): string[] => [...new Set(turns.map((all) => all.at(-1)?.results[at] ?? 'none'))];
  return { before: seen(0), after: seen(1) };
}

describe('AGT-5: every agent goes on', () => {
  it(
    'after kill -9 of the daemon, in one new daemon',
    async () => {
      process.kill(only(await world.daemons()), 'SIGKILL');
      await until('the servers of the daemon have ended', () => world.serverProcesses('notes').length === 0);
      const { before, after } = await pids();
      expect([before, after]).toEqual([[expect.stringMatching(/^\d+$/)], [expect.stringMatching(/^\d+$/)]]);
      expect(after).not.toEqual(before);
    },
    AGENT_MS,
  );

  it(
    'after kill -9 of a server, with one new process of it',
    async () => {
      const server = only(world.serverProcesses('notes'));
      process.kill(server, 'SIGKILL');
      // A call that is sent before the daemon has noticed fails: it could have been executed.
      await until('the daemon has noticed', async () => !(await world.daemonStatus()).includes(`${server}`));
      const { before, after } = await pids();
      expect([before, after]).toEqual([[String(server)], [expect.stringMatching(/^\d+$/)]]);
      expect(after).not.toEqual(before);
    },
    AGENT_MS,
  );

  it(
    'after an upgrade under them, in the daemon of the new build',
    async () => {
      const old = only(await world.daemons());
      world.install();
      await until('the daemon of the old build has ended', () => !isRunning(old));
      const { before, after } = await pids();
      expect([before, after]).toEqual([[expect.stringMatching(/^\d+$/)], [expect.stringMatching(/^\d+$/)]]);
    },
    AGENT_MS,
  );
});

function only(pids: readonly number[]): number {
  const [pid, ...others] = pids;
  if (pid === undefined || others.length > 0) throw new Error(`${pids.length} processes instead of one`);
  return pid;
}
