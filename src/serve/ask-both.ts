/**
 * Asks a client's user and the page; the first answer that a person can have given is used.
 *
 * Agents that run without a terminal declare that they can ask their user, and then refuse every question at once. A
 * refusal that comes sooner than a person can read the question is therefore not used while a page is open.
 */

import { asPlugboardError } from '../errors.ts';
import { type Clock, ticksOf } from '../lib/clock.ts';

/** A refusal that comes sooner was not given by a person. */
const UNATTENDED_MS = 1_000;

export interface Asked<T> {
  readonly client: (signal: AbortSignal) => Promise<T>;
  readonly page: (signal: AbortSignal) => Promise<T>;
  readonly isAccepted: (answer: T) => boolean;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/**
 * For a client that cannot be asked in parallel with the page: it is asked first, and the page if no person can have
 * answered.
 */
export async function askInTurn<T>({
  client,
  page,
  isAccepted,
  signal = new AbortController().signal,
  clock,
}: Asked<T>): Promise<T> {
  const askedAt = ticksOf(clock);
  const answer = await client(signal);
  return isAccepted(answer) || ticksOf(clock) - askedAt >= UNATTENDED_MS ? answer : page(signal);
}

/** For a client whose question can be cancelled: both are asked at the same time. */
export function askBoth<T>({ client, page, isAccepted, signal, clock }: Asked<T>): Promise<T> {
  const over = new AbortController();
  const both = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  const askedAt = ticksOf(clock);
  return new Promise<T>((resolve, reject) => {
    const settle = (end: () => void): void => {
      end();
      over.abort();
    };
    /** The end of the side that gave up first; used if the other gives up too. */
    let first: (() => void) | undefined;
    const giveUp = (end: () => void): void => {
      if (first === undefined) first = end;
      else settle(first);
    };
    client(both).then(
      (answer) => {
        const byPerson = isAccepted(answer) || ticksOf(clock) - askedAt >= UNATTENDED_MS;
        if (byPerson) settle(() => resolve(answer));
        else giveUp(() => resolve(answer));
      },
      (error: unknown) => giveUp(() => reject(asPlugboardError(error))),
    );
    page(both).then(
      (answer) => settle(() => resolve(answer)),
      (error: unknown) => giveUp(() => reject(asPlugboardError(error))),
    );
  });
}
