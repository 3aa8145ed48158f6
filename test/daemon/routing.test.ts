/** CON-11, A7: questions and messages of a shared server reach the agent whose call they belong to, and no other. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DaemonWorld } from '../world/daemon-world.ts';
import { isRunning } from '../world/processes.ts';
import { until } from '../world/until.ts';
import type { Agent } from './agent.ts';

const ASKABLE = { elicitation: { form: {} }, sampling: {}, roots: {} };
const ERAS = [
  { era: 'legacy', words: [] },
  { era: 'modern', words: ['modern'] },
];

let world: DaemonWorld;
beforeEach(() => {
  world = new DaemonWorld();
});
afterEach(() => world.close());

async function two(): Promise<[Agent, Agent]> {
  return Promise.all([world.agent().open(ASKABLE), world.agent().open(ASKABLE)]);
}

describe.each(ERAS)('a shared server of the $era era', ({ era, words }) => {
  it('CON-11: two people are asked at the same time, each about the own call, and answer in any order', async () => {
    world.configure({ s: world.server({}, ...words) });
    const [a, b] = await two();
    await Promise.all([a.call('pid'), b.call('pid')]);
    const shared = world.servers().length;
    const ends = [a.call('ask', { text: 'for a' }), b.call('ask', { text: 'for b' })];
    const [askedA, askedB] = await Promise.all([a.question(), b.question()]);
    askedB.answer({ action: 'accept', content: { name: 'Bea' } });
    const endB = JSON.parse((await ends[1]) ?? '');
    askedA.answer({ action: 'accept', content: { name: 'Ada' } });
    const endA = JSON.parse((await ends[0]) ?? '');
    expect({
      shared,
      asked: [askedA.params['message'], askedB.params['message']],
      endA,
      endB,
      left: [a.unanswered, b.unanswered],
      // A legacy server cannot name the call that its question belongs to: a session that would wait gets its own process.
      servers: world.servers().length,
    }).toEqual({
      shared: 1,
      asked: ['a', 'b'].map((who) => `s asks: for ${who}\nYour answer is read by s, not by Plugboard.`),
      endA: { action: 'accept', content: { name: 'Ada' } },
      endB: { action: 'accept', content: { name: 'Bea' } },
      left: [0, 0],
      servers: era === 'legacy' ? 2 : 1,
    });
  });

  it('CON-11: completions are asked of the model of the agent whose call it is', async () => {
    world.configure({ s: world.server({}, ...words) });
    const [a, b] = await two();
    const ends = [a.call('sample', { text: 'by a' }), b.call('sample', { text: 'by b' })];
    for (const [agent, name] of [
      [a, 'A'],
      [b, 'B'],
    ] as const) {
      const { params, answer } = await agent.question();
      const [{ content }] = params['messages'] as [{ content: { text: string } }];
      answer({ role: 'assistant', model: name, content: { type: 'text', text: `${content.text}: ${name}` } });
    }
    const said = (await Promise.all(ends)).map((end) => JSON.parse(end).content.text);
    expect(said).toEqual(['by a: A', 'by b: B']);
  });
});

/** Answers every question of an agent about its roots, until the test ends. */
async function answerRoots(agent: Agent, uri: string): Promise<void> {
  for (;;) (await agent.question()).answer({ roots: [{ uri }] });
}

it('SRV-11: a server that received roots is shared between sessions with the same roots only', async () => {
  world.configure({ s: world.server() });
  const [a, b] = await two();
  const [c] = await two();
  for (const [agent, uri] of [
    [a, 'file:///same'],
    [b, 'file:///same'],
    [c, 'file:///other'],
  ] as const)
    void answerRoots(agent, uri);
  await a.call('roots');
  const pids = [await a.call('pid'), await b.call('pid'), await c.call('pid')];
  await a.leave();
  const left = await b.call('pid');
  expect({ shared: pids[0] === pids[1], apart: pids[0] !== pids[2], still: left === pids[0] }).toEqual({
    shared: true,
    apart: true,
    still: true,
  });
});

// Protocol: 25-roots-5c, 26-roots-5c
it('CON-11: a legacy server that received the folders of one agent serves no other from then on', async () => {
  world.configure({ s: world.server() });
  const [a, b] = await two();
  const shared = new Set([await a.call('pid'), await b.call('pid')]).size;
  const folders = async (agent: Agent, uri: string): Promise<unknown> => {
    void answerRoots(agent, uri);
    return JSON.parse(await agent.call('roots'));
  };
  const ofA = await folders(a, 'file:///a');
  const ofB = await folders(b, 'file:///b');
  const apart = new Set([await a.call('pid'), await b.call('pid')]).size;
  expect({ shared, ofA, ofB, apart }).toEqual({
    shared: 1,
    ofA: { roots: [{ uri: 'file:///a' }] },
    ofB: { roots: [{ uri: 'file:///b' }] },
    apart: 2,
  });
});

// Protocol: 25-logging-5c, 26-logging-9c
it('CON-13: log messages of a server that works for one agent reach that agent only', async () => {
  world.configure({ s: world.server() });
  const [a, b] = await two();
  await a.call('log', { text: 'of a' });
  await b.call('log', { text: 'of b' });
  await Promise.all([a, b].map((agent) => agent.heard('notifications/message')));
  const logged = [a, b].map(({ notifications }) =>
    notifications.flatMap(({ method, params }) =>
      method === 'notifications/message' ? [(params as { data: string }).data] : [],
    ),
  );
  expect(logged).toEqual([['of a'], ['of b']]);
});

it('CON-11: agents that can be asked share one process of a legacy server as long as none has to wait', async () => {
  world.configure({ s: world.server() });
  const [a, b] = await two();
  const calls = Array.from({ length: 20 }, (_, at) =>
    [a, b].map((agent) => agent.call('echo', { text: `${at}` })),
  );
  const texts = await Promise.all(calls.flat());
  expect({ texts, servers: world.servers().length }).toEqual({
    texts: Array.from({ length: 20 }, (_, at) => [`${at}`, `${at}`]).flat(),
    servers: 1,
  });
});

it('CON-11: a server that is not to be shared has a process for each agent, which ends with the agent', async () => {
  world.configure({ s: world.server({ shared: false }), t: world.server() });
  const [a, b] = await two();
  const own = await Promise.all([a.call('pid'), b.call('pid'), a.call('pid'), b.call('pid')]);
  const shared = await Promise.all([a.call('pid', {}, 't'), b.call('pid', {}, 't')]);
  await a.leave();
  await until('the process of the agent that left is gone', () => !isRunning(Number(own[0])));
  expect({
    apart: new Set(own).size,
    same: own[0] === own[2] && own[1] === own[3],
    shared: new Set(shared).size,
    goesOn: await b.call('pid'),
    left: world.servers().length,
  }).toEqual({ apart: 2, same: true, shared: 1, goesOn: own[1], left: 2 });
});
