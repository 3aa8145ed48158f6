/** SRV-11: a question goes to a client's user and to the page, and the first answer of a person is used. */

import { describe, expect, it } from 'vitest';
import { PlugboardError } from '../../src/errors.ts';
import { type Asked, askBoth, askInTurn } from '../../src/serve/client-questions.ts';
import { type FakeClock, fakeClock } from '../../src/testing/index.ts';

interface Party {
  readonly ask: Asked<string>['client'];
  answer(text: string): void;
  fail(): void;
  /** Undefined until it is asked. */
  signal: AbortSignal | undefined;
}

function party(): Party {
  let resolve: (text: string) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const answered = new Promise<string>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  const made: Party = {
    signal: undefined,
    ask: (signal) => {
      made.signal = signal;
      return answered;
    },
    answer: (text) => resolve(text),
    fail: () => reject(new PlugboardError('CONNECTION_LOST', 'gone')),
  };
  return made;
}

function question(): { client: Party; page: Party; clock: FakeClock; asked: Asked<string> } {
  const [client, page, clock] = [party(), party(), fakeClock()];
  const isAccepted = (answer: string): boolean => answer === 'yes';
  return {
    client,
    page,
    clock,
    asked: { client: client.ask, page: page.ask, isAccepted, signal: undefined, clock },
  };
}

describe('a client that can be asked in addition to the page', () => {
  it('SRV-11: uses what the client accepts at once, and takes the question from the page', async () => {
    const { client, page, asked } = question();
    const answer = askBoth(asked);
    client.answer('yes');
    expect([await answer, page.signal?.aborted]).toEqual(['yes', true]);
  });

  it('SRV-11: waits for the page when the client refuses sooner than a person can', async () => {
    const { client, page, asked } = question();
    const answer = askBoth(asked);
    client.answer('no');
    page.answer('yes');
    expect(await answer).toBe('yes');
  });

  it('SRV-11: uses a refusal that a person can have given', async () => {
    const { client, page, clock, asked } = question();
    const answer = askBoth(asked);
    await clock.advance(1_000);
    client.answer('no');
    expect([await answer, page.signal?.aborted]).toEqual(['no', true]);
  });

  it('SRV-11: uses the early refusal if the page can no longer be asked', async () => {
    const { client, page, asked } = question();
    const answer = askBoth(asked);
    client.answer('no');
    page.fail();
    expect(await answer).toBe('no');
  });

  it('SRV-11: takes the question from the client when the page has answered', async () => {
    const { client, page, asked } = question();
    const answer = askBoth(asked);
    page.answer('yes');
    expect([await answer, client.signal?.aborted]).toEqual(['yes', true]);
  });
});

describe('a client of the modern era', () => {
  it('SRV-11: asks the page when the client refuses sooner than a person can', async () => {
    const { client, page, asked } = question();
    const answer = askInTurn(asked);
    client.answer('no');
    page.answer('yes');
    expect(await answer).toBe('yes');
  });

  it.each([
    ['yes', 0],
    ['no', 1_000],
  ])('SRV-11: does not ask the page after %s in %d ms', async (text, ms) => {
    const { client, page, clock, asked } = question();
    const answer = askInTurn(asked);
    await clock.advance(ms);
    client.answer(text);
    expect([await answer, page.signal]).toEqual([text, undefined]);
  });
});
