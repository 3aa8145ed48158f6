import { afterEach, expect, it } from 'vitest';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { AGENT_MS, AgentsWorld } from '../world/agents-world.ts';
import { Gate } from './gate.ts';

let world: AgentsWorld;
let auth: AuthServer;
afterEach(async () => {
  await world.close();
  await auth.close();
});

it(
  'AGT-3: three agents in one folder share one process of every server, one login and one token refresh',
  async () => {
    auth = await startAuthServer({ expiresIn: 1 });
    world = await AgentsWorld.create();
    world.configureAgents({
      notes: world.server('notes'),
      tasks: world.server('tasks', 'modern'),
      crm: { url: auth.url },
    });
    await world.moveIn();
    // The first access token is over when the agents come; the next one lasts.
    await world.logIn('crm');
    auth.rules.expiresIn = 3600;
    const [arrived, leave] = [new Gate(world.agents.length), new Gate()];
    const runs = world.startAgents((id) => [
      { call: 'notes__pid' },
      { call: 'tasks__pid' },
      { call: 'crm__echo', args: { text: id } },
      async () => {
        arrived.arrive();
        await leave.opened;
        return { text: 'Done.' };
      },
    ]);
    await world.reached(arrived.opened, runs);
    const processes = { notes: world.serverProcesses('notes'), tasks: world.serverProcesses('tasks') };
    leave.open();
    const turns = await world.turnsOf(runs);
    const results = world.perAgent((id) => turns[id]?.at(-1)?.results);
    const pids = [String(processes.notes[0]), String(processes.tasks[0])];
    expect({ processes, results, grants: auth.grants() }).toEqual({
      processes: { notes: [expect.any(Number)], tasks: [expect.any(Number)] },
      results: world.perAgent((id) => [...pids, id]),
      grants: ['authorization_code', 'refresh_token'],
    });
  },
  AGENT_MS,
);
