import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AGENT_MS, AgentsWorld } from '../world/agents-world.ts';
import { type EventReader, readEvents } from '../world/managed-gateway.ts';
import type { Move, Step } from './agent.ts';
import { Gate } from './gate.ts';
import type { AgentId } from './programs.ts';

interface View {
  /** Tools of the profile that are listed. */
  readonly listed: readonly string[];
  /** A tool of the profile that is left to tool search, so that `call_tool` is offered. */
  readonly searched: string;
  /** A tool that exists, outside of the profile. */
  readonly hidden: string;
}

const VIEWS: Readonly<Record<AgentId, View>> = {
  'claude-code': { listed: ['notes__echo', 'notes__wait'], searched: 'notes__steps', hidden: 'tasks__echo' },
  codex: { listed: ['tasks__echo', 'tasks__wait'], searched: 'tasks__steps', hidden: 'notes__echo' },
  // It has some tools of the servers of both others.
  opencode: {
    listed: ['notes__wait', 'tasks__echo', 'tasks__pid'],
    searched: 'tasks__env',
    hidden: 'notes__echo',
  },
};
/** The same in every profile, so that `tools` alone decides which tools an agent has. */
const ALWAYS_LOADED = ['*__echo', '*__pid', '*__wait'];
const SEARCH_TOOLS = ['call_tool', 'call_tool_read', 'tool_search'];
/** A tool that does not exist: a hidden tool is refused with the same text. */
const MISSING = 'notes__none';

const NEEDS_TOKEN = 'A token that calls tools is needed: plugboard token add <name> makes one.';
/** The result of a call with a revoked token, as each agent reports the status 401 to its model. */
const REFUSED: Readonly<Record<AgentId, unknown>> = {
  'claude-code': expect.stringContaining(NEEDS_TOKEN),
  codex: expect.stringContaining('Auth required'),
  opencode: expect.stringContaining(NEEDS_TOKEN),
};

/** Fields of `call.begin` and `call.end` that are read here. */
interface CallEvent {
  readonly id: string;
  readonly tool?: string;
}

let world: AgentsWorld;
let events: EventReader;

/** Each agent is a client of one gateway, with its own token and profile. */
beforeEach(async () => {
  world = await AgentsWorld.create();
  const profiles = world.perAgent((id) => {
    const { listed, searched } = VIEWS[id];
    return { tools: [...listed, searched], search: { mode: true, alwaysLoad: ALWAYS_LOADED } };
  });
  world.configure({ notes: world.server('notes'), tasks: world.server('tasks', 'modern') }, { profiles });
  const url = await world.serveHttp();
  for (const { id } of world.agents)
    world.configureAgent(id, { plugboard: { url, token: await world.addToken(id, id) } });
  const token = readFileSync(join(world.plugboardHome, 'manage-token'), 'utf8').trim();
  events = await readEvents({ origin: new URL(url).origin }, { authorization: `Bearer ${token}` });
}, AGENT_MS);
afterEach(async () => {
  events.close();
  await world.close();
});

const toolOf = (id: AgentId, name: string): string =>
  VIEWS[id].listed.find((tool) => tool.endsWith(`__${name}`)) ?? '';
const echo = (id: AgentId, text: string): Move => ({ call: toolOf(id, 'echo'), args: { text } });
const unknown = (name: string): string => `There is no tool called "${name}". Find it with tool_search.`;

it.each<AgentId>(['claude-code', 'codex', 'opencode'])(
  'AGT-7: three agents have the tools of their profiles only; %s is revoked during a call, and the others go on',
  async (leaving) => {
    const [connected, revoked] = [new Gate(world.agents.length), new Gate()];
    const stepsOf = (id: AgentId): readonly Step[] => [
      echo(id, 'first'),
      { call: 'call_tool', args: { name: VIEWS[id].hidden, arguments: {} } },
      { call: 'call_tool', args: { name: MISSING, arguments: {} } },
      async () => {
        connected.arrive();
        await connected.opened;
        if (id === leaving) return { call: toolOf(id, 'wait') };
        await revoked.opened;
        return echo(id, 'second');
      },
      id === leaving ? echo(id, 'after its token was revoked') : echo(id, 'third'),
    ];
    const runs = world.startAgents(stepsOf);
    const begun = await world.reached(
      events.next(({ event, data }) => event === 'call.begin' && (data as CallEvent).tool === 'wait'),
      runs,
    );
    await world.plugboard(['token', 'revoke', leaving]);
    revoked.open();
    const turns = await world.turnsOf(runs);

    const seen = world.perAgent((id) => ({
      tools: turns[id]?.map(({ tools }) => tools),
      results: turns[id]?.at(-1)?.results,
    }));
    expect(seen).toEqual(
      world.perAgent((id) => {
        const tools = [...VIEWS[id].listed, ...SEARCH_TOOLS].sort();
        const last = id === leaving ? [expect.any(String), REFUSED[id]] : ['second', 'third'];
        return {
          tools: Array.from({ length: stepsOf(id).length + 1 }, () => tools),
          results: ['first', unknown(VIEWS[id].hidden), unknown(MISSING), ...last],
        };
      }),
    );
    const { id } = begun.data as CallEvent;
    const ended = await events.next(
      ({ event, data }) => event === 'call.end' && (data as CallEvent).id === id,
    );
    expect([begun.data, ended.data]).toMatchObject([
      { client: leaving, profile: leaving },
      { outcome: 'cancelled' },
    ]);
  },
  AGENT_MS,
);
