import { afterEach, expect, it } from 'vitest';
import { AGENT_MS, AgentsWorld } from '../world/agents-world.ts';
import type { Turn } from './agent.ts';

let world: AgentsWorld;
afterEach(() => world.close());

it(
  'AGT-2: every agent finds one of 525 tools by search and calls it by the name in the answer',
  async () => {
    world = await AgentsWorld.create();
    world.configure({ catalog: world.fixture('agents-catalog.mjs', world.root) }, { toolSearch: true });
    await world.moveIn();
    const runs = world.startAgents((id) => [
      { call: 'tool_search', args: { query: 'delete an event from the calendar' } },
      (turn) => ({ call: 'call_tool', args: { name: nameIn(turn), arguments: { id } } }),
    ]);
    const turns = await world.turnsOf(runs);
    const seen = world.perAgent((id) => ({
      first: turns[id]?.[0]?.tools,
      result: turns[id]?.at(-1)?.results.at(-1),
    }));
    expect(seen).toEqual(
      world.perAgent((id) => ({
        first: ['call_tool', 'call_tool_read', 'tool_search'],
        result: `delete_calendar_event {"id":"${id}"}`,
      })),
    );
  },
  AGENT_MS,
);

/** The name as the answer of `tool_search` gives it, which is all that a model knows of it. */
function nameIn({ results }: Turn): string {
  return /[\w-]*delete_calendar_event/.exec(results.at(-1) ?? '')?.[0] ?? '';
}
