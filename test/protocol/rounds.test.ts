/** Requests that wait for their client between two rounds. */

import { expect, it } from 'vitest';
import { NAMELESS } from '../../src/endpoint/client-era.ts';
import { Rounds, SuspendedRequests } from '../../src/endpoint/client-rounds.ts';
import { Work } from '../../src/endpoint/work.ts';
import { fakeClock } from '../../src/testing/index.ts';

const TEN_MINUTES_MS = 10 * 60 * 1000;
const ONE_MINUTE_MS = 60 * 1000;

const unused = (): never => {
  throw new Error('nothing was lost');
};

// Protocol: 26-mrtr-10, 26-mrtr-15
it('a client that does not come back ends its request after ten minutes, and its state with it', async () => {
  const clock = fakeClock();
  const held = new SuspendedRequests(clock);
  const exchange = { send: () => true, onGone: undefined };
  const work = new Work(1, NAMELESS, exchange, () => Promise.reject(new Error('unused')));
  const state = held.put(new Rounds(work), 'ada', 'print');
  await clock.advance(TEN_MINUTES_MS - 1);
  expect(work.isCancelled).toBe(false);
  await clock.advance(1);
  expect(work.isCancelled).toBe(true);
  expect(() => held.take(state, 'ada', 'print', {}, unused)).toThrow('This requestState is not known here');
});

it('A7: an answered round can be sent again by its own client only, until a minute after its end', async () => {
  const clock = fakeClock();
  const held = new SuspendedRequests(clock);
  const exchange = { send: () => true, onGone: undefined };
  const rounds = new Rounds(new Work(1, NAMELESS, exchange, () => Promise.reject(new Error('unused'))));
  const question = rounds.work.ask('elicitation/create', { message: 'Sure?' }, undefined, 'sure');
  rounds.begin(question.then((answer) => ({ answer })));
  const state = held.put(rounds, 'ada', 'print');
  const take = (owner: string, print = 'print', answer = 'yes'): Rounds =>
    held.take(state, owner, print, { sure: answer }, unused);
  const unknown = 'This requestState is not known here';
  expect(() => take('bob')).toThrow(unknown);
  expect(await take('ada').next()).toEqual({ answer: 'yes' });
  expect(() => take('bob')).toThrow(unknown);
  expect(() => take('ada', 'another print')).toThrow(unknown);
  await clock.advance(ONE_MINUTE_MS - 1);
  expect(await take('ada', 'print', 'no').next()).toEqual({ answer: 'yes' });
  await clock.advance(ONE_MINUTE_MS);
  expect(() => take('ada')).toThrow(unknown);
});

it('an answer that is sent again does not answer a later question with the same name', async () => {
  const held = new SuspendedRequests(fakeClock());
  const exchange = { send: () => true, onGone: undefined };
  const rounds = new Rounds(new Work(1, NAMELESS, exchange, () => Promise.reject(new Error('unused'))));
  const asking = async (): Promise<Record<string, unknown>> => ({
    first: await rounds.work.ask('elicitation/create', { message: 'Read it?' }, undefined, 'sure'),
    second: await rounds.work.ask('elicitation/create', { message: 'Delete it?' }, undefined, 'sure'),
  });
  rounds.begin(asking());
  const state = held.put(rounds, 'ada', 'print');
  const take = (of: string, answer: string): Rounds =>
    held.take(of, 'ada', 'print', { sure: answer }, unused);
  expect(await take(state, 'yes').next()).toBeUndefined();
  const next = held.put(rounds, 'ada', 'print');
  expect(await take(state, 'yes').next()).toBeUndefined();
  expect(held.put(rounds, 'ada', 'print')).toBe(next);
  expect(await take(next, 'no').next()).toEqual({ first: 'yes', second: 'no' });
});

it('A7: rounds after lost ones have the answers to the same questions, but no approval', async () => {
  const exchange = { send: () => true, onGone: undefined };
  const make = (lost?: Rounds): Rounds =>
    new Rounds(new Work(1, NAMELESS, exchange, () => Promise.reject(new Error('unused'))), lost);
  const ask = (rounds: Rounds, key: string, params: object): Promise<unknown> =>
    rounds.work.ask('elicitation/create', { ...params }, undefined, key);
  const approval = { message: 'Allow?', _meta: { 'plugboard/approval': { server: 's', tool: 't' } } };
  const lost = make();
  const given = Promise.all([ask(lost, 'sure', { message: 'Sure?' }), ask(lost, 'allow', approval)]);
  lost.answer({ sure: 'yes', allow: 'once' });
  expect(await given).toEqual(['yes', 'once']);
  const again = make(lost);
  expect(await ask(again, 'sure', { message: 'Sure?' })).toBe('yes');
  for (const [key, params] of [
    ['allow', approval],
    ['sure', { message: 'Sure?' }],
    ['other', { message: 'Sure?' }],
  ] as const)
    ask(again, key, params);
  expect(Object.keys(again.inputRequests())).toEqual(['allow', 'sure', 'other']);
});
