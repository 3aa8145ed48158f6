import { afterEach, expect, it } from 'vitest';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { AGENT_MS, AgentsWorld, ECHO_TOOLS, SERVER_TOOLS } from '../world/agents-world.ts';

let world: AgentsWorld;
let auth: AuthServer;
afterEach(async () => {
  await world.close();
  await auth.close();
});

it(
  'AGT-1: every agent offers all tools of good servers in its first request, next to one that hangs, one that crashes and one without a login, in the first and in the second run',
  async () => {
    auth = await startAuthServer();
    world = await AgentsWorld.create();
    world.configureAgents({
      notes: world.server('notes'),
      tasks: world.server('tasks', 'modern'),
      web: await world.httpServer(),
      hangs: world.fixture('cli-silent.mjs'),
      crashes: world.fixture('stdio-exit.mjs', '1', 'no license'),
      crm: { url: auth.url },
    });
    await world.moveIn();
    const tools = [
      ...SERVER_TOOLS.flatMap((tool) => [`notes__${tool}`, `tasks__${tool}`]),
      ...ECHO_TOOLS.map((tool) => `web__${tool}`),
    ].sort();
    for (const message of ['first run', 'second run']) {
      const runs = world.startAgents(() => [{ call: 'web__echo', args: { message } }]);
      expect(await world.turnsOf(runs)).toEqual(
        world.perAgent(() => [
          { tools, results: [] },
          { tools, results: [message] },
        ]),
      );
    }
  },
  AGENT_MS,
);
