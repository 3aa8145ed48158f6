/**
 * Answers a modern request in rounds: questions are sent as `input_required`, and the client repeats the request with
 * the answers. The call upstream stays open in between, whatever era its server has.
 */

import { APPROVAL_META } from '../connection/handed-on.ts';
import { PlugboardError } from '../errors.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import type { Params } from './client-era.ts';
import { invalidParams } from './rpc-failure.ts';
import type { Work } from './work.ts';

/** How long a person may take before the call is cancelled. */
const HOLD_MS: number = 10 * 60 * 1000;
/** Requests that may wait for their clients at the same time. */
const MAX_SUSPENDED = 1_000;
/** How long after the end of the work a client whose connection broke can send its answers again. */
const KEEP_MS: number = 60 * 1000;
/** Limit on rounds that can be repeated, of all clients; the oldest are dropped first. */
const MAX_KEPT = 100;

interface Question {
  readonly request: { readonly method: string; readonly params: Params };
  settle(answer: unknown): void;
}

type Questions = ReadonlyMap<string, Question>;

interface Waiting {
  resolve(result: Params | undefined): void;
  reject(error: unknown): void;
}

/** A client's answer to exactly this question. */
interface Given {
  readonly question: string;
  readonly answer: unknown;
}

/** One request over all of its rounds. */
export class Rounds {
  readonly work: Work;
  /** Created for the first question: most requests have none. */
  #open: Map<string, Question> | undefined;
  readonly #known: Given[] | undefined;
  readonly #given: Given[] = [];
  /** Rounds that wait for the result or for questions. */
  #waiting: Waiting[] = [];
  #asked = 0;
  #result: Promise<Params> | undefined;
  #isSettled = false;

  /** `lost`: earlier rounds of the same request, which were lost: their answered questions are not asked again. */
  constructor(work: Work, lost?: Rounds) {
    this.work = work;
    this.#known = lost && [...lost.#given];
    work.ask = (method, params, signal, key) => this.#ask(method, params, signal, key);
  }

  /** Starts the first round. `ended` is called when the work has ended, before its result is returned. */
  begin(result: Promise<Params>, ended: () => void = () => {}): void {
    this.#result = result;
    // Between two rounds no caller waits for it; the next round gets the error.
    result.then(
      (value) => {
        this.#isSettled = true;
        ended();
        for (const { resolve } of this.#takeWaiting()) resolve(value);
      },
      (error: unknown) => {
        this.#isSettled = true;
        ended();
        for (const { reject } of this.#takeWaiting()) reject(error);
      },
    );
  }

  /** True if the work was cancelled, for example by a broken connection: a client that returns restarts it. */
  get isLost(): boolean {
    return this.work.isAbandoned && this.work.failure === undefined;
  }

  onEnd(ended: () => void): void {
    this.#result?.then(ended, ended);
  }

  /** Resolves with the result, or undefined if the client must be asked first. */
  next(): Promise<Params | undefined> {
    if (this.#isSettled && this.#result !== undefined) return this.#result;
    return new Promise<Params | undefined>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (this.#isAsking) this.#wake();
    });
  }

  #takeWaiting(): readonly Waiting[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  /** Ends the current rounds with the open questions; those of one tick are sent together. */
  #wake(): void {
    setImmediate(() => {
      if (this.#isAsking) for (const { resolve } of this.#takeWaiting()) resolve(undefined);
    });
  }

  get #isAsking(): boolean {
    return this.#open !== undefined && this.#open.size > 0;
  }

  /** Returns the open questions. */
  questions(): Questions {
    return new Map(this.#open);
  }

  inputRequests(): Params {
    return Object.fromEntries([...this.questions()].map(([key, { request }]) => [key, request]));
  }

  /** Applies the answers to the questions of one round: a later question may have the same key. */
  answer(responses: unknown, asked: Questions = this.questions()): void {
    if (!isRecord(responses)) return;
    for (const [key, question] of asked) {
      if (this.#open?.get(key) === question && Object.hasOwn(responses, key)) question.settle(responses[key]);
    }
  }

  #answered(question: string): Given | undefined {
    const at = this.#known?.findIndex((known) => known.question === question) ?? -1;
    return at < 0 ? undefined : this.#known?.splice(at, 1)[0];
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
      this.#open ??= new Map();
      const open = this.#open;
      const key = wanted === undefined || open.has(wanted) ? own : wanted;
      const question = canonicalJson({ key, method, params });
      const known = this.#answered(question);
      if (known !== undefined) {
        this.#given.push(known);
        resolve(known.answer);
        return;
      }
      const signals = [this.work.signal, ...(signal === undefined ? [] : [signal])];
      const forget = (): void => {
        open.delete(key);
        for (const each of signals) each.removeEventListener('abort', giveUp);
      };
      const giveUp = (): void => {
        forget();
        reject(new PlugboardError('CANCELLED', `${method} is no longer awaited`));
      };
      open.set(key, {
        request: { method, params },
        settle: (answer) => {
          forget();
          if (!isApproval(params)) this.#given.push({ question, answer });
          resolve(answer);
        },
      });
      for (const each of signals) {
        if (each.aborted) giveUp();
        else each.addEventListener('abort', giveUp, { once: true });
      }
      this.#wake();
    });
  }
}

interface SuspendedRequest {
  readonly owner: string;
  readonly print: string;
  rounds: Rounds;
  asked: Questions;
  stopTimer: () => void;
}

/** An approval is for one call: restarted work is asked about again. */
function isApproval({ _meta }: Params): boolean {
  return isRecord(_meta) && Object.hasOwn(_meta, APPROVAL_META);
}

/** Returns the identity of a request across retries: everything but the answers. */
export function printOf(method: string, { name, uri, arguments: args }: Params): string {
  return canonicalJson({ method, name: name ?? null, uri: uri ?? null, arguments: args ?? null });
}

/** Creates an unguessable state for an owner; it may contain the continuation of its request. */
type IssueState = (owner: string, continuation: string | undefined) => string;

const CONTINUATION_MARK = '.';

/** Returns a state with a continuation, for processes that do not know the state. */
export function stateWith(state: string, continuation: string | undefined): string {
  return continuation === undefined ? state : `${state}${CONTINUATION_MARK}${continuation}`;
}

/** Requests between two rounds, each under a secret that only its client received. */
export class SuspendedRequests {
  readonly #clock: Clock;
  readonly #suspended = new Map<string, SuspendedRequest>();
  /** Answered rounds, for a client that did not receive the response and sends its answers again. */
  readonly #taken = new Map<string, SuspendedRequest>();

  readonly #issue: IssueState;

  constructor(clock: Clock, issue: IssueState = () => crypto.randomUUID()) {
    this.#clock = clock;
    this.#issue = issue;
  }

  /** The number of requests that wait. */
  get size(): number {
    return this.#suspended.size;
  }

  /** Returns the continuation in a state of another process; undefined if this one knows the state, or there is none. */
  continuationOf(state: unknown): string | undefined {
    if (typeof state !== 'string' || this.#suspended.has(state) || this.#taken.has(state)) return undefined;
    const at = state.indexOf(CONTINUATION_MARK);
    return at < 0 ? undefined : state.slice(at + 1);
  }

  put(rounds: Rounds, owner: string, print: string): string {
    rounds.work.detach();
    // A round that was sent twice is answered twice, with one state.
    for (const [state, suspended] of this.#suspended) {
      if (suspended.rounds !== rounds) continue;
      suspended.asked = rounds.questions();
      return state;
    }
    if (this.#suspended.size >= MAX_SUSPENDED) {
      const full = new PlugboardError(
        'LIMIT_EXCEEDED',
        `${MAX_SUSPENDED} requests wait for their clients already`,
      );
      rounds.work.cancel(full);
      throw full;
    }
    const state = this.#issue(owner, rounds.work.continuation);
    const stopTimer = this.#clock.after(HOLD_MS, () => {
      this.#suspended.delete(state);
      rounds.work.cancel(new PlugboardError('TIMEOUT', 'The client did not come back with its answers'));
    });
    this.#suspended.set(state, { rounds, owner, print, asked: rounds.questions(), stopTimer });
    return state;
  }

  /**
   * Returns the rounds to continue, with the answers applied. `begin` creates new ones for lost rounds. The state of
   * another client, of another request and an invented one are all reported as unknown.
   */
  take(
    state: unknown,
    owner: string,
    print: string,
    responses: unknown,
    begin: (lost: Rounds) => Rounds,
  ): Rounds {
    const suspended =
      typeof state === 'string' ? (this.#suspended.get(state) ?? this.#taken.get(state)) : undefined;
    if (typeof state !== 'string' || suspended?.owner !== owner || suspended.print !== print) {
      throw invalidParams('This requestState is not known here, or it belongs to another request');
    }
    this.#suspended.delete(state);
    suspended.stopTimer();
    suspended.rounds.answer(responses, suspended.asked);
    if (suspended.rounds.isLost) suspended.rounds = begin(suspended.rounds);
    this.#keep(state, suspended);
    return suspended.rounds;
  }

  /** Ends the requests of one client. */
  dismiss(owner: string, reason: PlugboardError): void {
    for (const [state, suspended] of this.#taken) if (suspended.owner === owner) this.#forget(state);
    for (const [state, suspended] of this.#suspended) {
      if (suspended.owner !== owner) continue;
      this.#suspended.delete(state);
      suspended.stopTimer();
      suspended.rounds.work.cancel(reason);
    }
  }

  close(reason: PlugboardError): void {
    for (const state of this.#taken.keys()) this.#forget(state);
    for (const { rounds, stopTimer } of this.#suspended.values()) {
      stopTimer();
      rounds.work.cancel(reason);
    }
    this.#suspended.clear();
  }

  #keep(state: string, suspended: SuspendedRequest): void {
    const { rounds } = suspended;
    this.#taken.delete(state);
    this.#taken.set(state, suspended);
    const [oldest] = this.#taken.keys();
    if (this.#taken.size > MAX_KEPT && oldest !== undefined) this.#forget(oldest);
    suspended.stopTimer = () => {};
    rounds.onEnd(() => {
      if (this.#taken.get(state) !== suspended || suspended.rounds !== rounds) return;
      suspended.stopTimer();
      suspended.stopTimer = this.#clock.after(KEEP_MS, () => this.#taken.delete(state));
    });
  }

  #forget(state: string): void {
    this.#taken.get(state)?.stopTimer();
    this.#taken.delete(state);
  }
}
