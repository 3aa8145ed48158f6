/**
 * A modern request that is answered in rounds: questions go out as `input_required`, and the client asks again
 * with the answers. The call upstream stays open meanwhile, whatever era its server is of.
 */

import { PlugboardError } from '../errors.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json-rpc.ts';
import type { Params } from './eras.ts';
import { invalidParams } from './rpc-failure.ts';
import type { Work } from './work.ts';

/** How long a person may think before the call is given up. */
const HOLD_MS: number = 10 * 60 * 1000;
/** Requests that wait for their clients at the same time. */
const MAX_HELD = 1_000;

interface Question {
  readonly request: { readonly method: string; readonly params: Params };
  settle(answer: unknown): void;
}

/** One request over all of its rounds. */
export class Rounds {
  readonly work: Work;
  readonly #open = new Map<string, Question>();
  #asked = 0;
  #wake: (() => void) | undefined;
  #result: Promise<Params> | undefined;

  constructor(work: Work) {
    this.work = work;
    work.ask = (method, params, signal, key) => this.#ask(method, params, signal, key);
  }

  begin(result: Promise<Params>): void {
    this.#result = result;
    // Between two rounds nobody waits for it; the next round hears of it.
    result.catch(() => {});
  }

  /** The result, or undefined when the client has to be asked something first. */
  next(): Promise<Params | undefined> {
    return new Promise((resolve, reject) => {
      // Questions of one moment are put together.
      this.#wake = () => setImmediate(() => this.#open.size > 0 && resolve(undefined));
      this.#result?.then(resolve, reject);
      if (this.#open.size > 0) this.#wake();
    });
  }

  inputRequests(): Params {
    return Object.fromEntries([...this.#open].map(([key, { request }]) => [key, request]));
  }

  answer(responses: unknown): void {
    if (!isRecord(responses)) return;
    for (const [key, question] of [...this.#open]) {
      if (Object.hasOwn(responses, key)) question.settle(responses[key]);
    }
  }

  #ask(
    method: string,
    params: Params,
    signal: AbortSignal | undefined,
    wanted: string | undefined,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#asked += 1;
      const own = `${method.split('/')[0]}-${this.#asked}`;
      const key = wanted === undefined || this.#open.has(wanted) ? own : wanted;
      const signals = [this.work.signal, ...(signal === undefined ? [] : [signal])];
      const forget = (): void => {
        this.#open.delete(key);
        for (const each of signals) each.removeEventListener('abort', giveUp);
      };
      const giveUp = (): void => {
        forget();
        reject(new PlugboardError('CANCELLED', `${method} is not waited for any more`));
      };
      this.#open.set(key, {
        request: { method, params },
        settle(answer) {
          forget();
          resolve(answer);
        },
      });
      for (const each of signals) {
        if (each.aborted) giveUp();
        else each.addEventListener('abort', giveUp, { once: true });
      }
      this.#wake?.();
    });
  }
}

interface HeldRequest {
  readonly rounds: Rounds;
  readonly owner: string;
  readonly print: string;
  readonly stopTimer: () => void;
}

/** What makes a retry the same request: everything but the answers. */
export function printOf(method: string, { name, uri, arguments: args }: Params): string {
  return canonicalJson({ method, name: name ?? null, uri: uri ?? null, arguments: args ?? null });
}

/** Requests between two rounds, each under a secret that only its client was told. */
export class Held {
  readonly #clock: Clock;
  readonly #held = new Map<string, HeldRequest>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  put(rounds: Rounds, owner: string, print: string): string {
    if (this.#held.size >= MAX_HELD) {
      const full = new PlugboardError(
        'LIMIT_EXCEEDED',
        `${MAX_HELD} requests wait for their clients already`,
      );
      rounds.work.cancel(full);
      throw full;
    }
    rounds.work.detach();
    const state = crypto.randomUUID();
    const stopTimer = this.#clock.after(HOLD_MS, () => {
      this.#held.delete(state);
      rounds.work.cancel(new PlugboardError('TIMEOUT', 'the client did not come back with its answers'));
    });
    this.#held.set(state, { rounds, owner, print, stopTimer });
    return state;
  }

  /** Once only; another client's, another request's and an invented state are all the same unknown one. */
  take(state: unknown, owner: string, print: string): Rounds {
    const held = typeof state === 'string' ? this.#held.get(state) : undefined;
    if (typeof state !== 'string' || held?.owner !== owner || held.print !== print) {
      throw invalidParams('This requestState is not known here, or it belongs to another request.');
    }
    this.#held.delete(state);
    held.stopTimer();
    return held.rounds;
  }

  /** Ends the requests of one client. */
  dismiss(owner: string, reason: PlugboardError): void {
    for (const [state, held] of this.#held) {
      if (held.owner !== owner) continue;
      this.#held.delete(state);
      held.stopTimer();
      held.rounds.work.cancel(reason);
    }
  }

  close(reason: PlugboardError): void {
    for (const { rounds, stopTimer } of this.#held.values()) {
      stopTimer();
      rounds.work.cancel(reason);
    }
    this.#held.clear();
  }
}
