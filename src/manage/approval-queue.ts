/**
 * Approval queue: questions that wait for a person at the page or for an API client, with limits on number and time.
 */

import type { ApprovalAnswer, ApprovalRequest } from '../call/session.ts';
import type { Question, QuestionId } from '../connection/open-questions.ts';
import type { ElicitAnswer, ElicitRequest, SampleRequest } from '../connection/questions.ts';
import { readForm } from '../connection/questions-form.ts';
import { faultOfSample, RPC_SAMPLING_REJECTED } from '../connection/questions-sample.ts';
import { PlugboardError } from '../errors.ts';
import { type Clock, ticksOf } from '../lib/clock.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import type { QuestionQueue } from '../serve/client-questions.ts';

const MAX_PENDING = 100;
const ANSWER_LIMIT_MS = 300_000;
/** A client that requested the list within this time is expected to request it again. */
const POLLER_STAYS_MS = 30_000;
/** A page that is reloaded, or whose machine slept, reconnects within this time; after that it is treated as closed. */
const PAGE_AWAY_MS = 20_000;
const ATTENDANCE_CHECK_MS = 5_000;

export const APPROVAL_ANSWERS: readonly ApprovalAnswer[] = [
  'allow',
  'allow-session',
  'allow-always',
  'deny',
  'cancel',
];
export const QUESTION_ANSWERS: readonly ElicitAnswer['action'][] = ['accept', 'decline', 'cancel'];

export interface PendingQuestion extends Question {
  readonly id: QuestionId;
  /** When it was asked, and when it expires; milliseconds since the epoch. */
  readonly at: number;
  readonly until: number;
}

/** What a person should know about a question, in addition to the question itself. */
export interface QuestionFacts {
  readonly call?: string;
  readonly tool?: string;
  readonly client?: string;
  readonly profile?: string;
  readonly agent?: { readonly name: string; readonly version: string };
  readonly folder?: string;
  /** Of approvals. */
  readonly destructive?: boolean;
  /** The rule that "always" writes, and where. */
  readonly rule?: string;
  readonly ruleIn?: string;
  readonly suggestions?: readonly string[];
}

export interface GivenAnswer {
  readonly answer: string;
  readonly content?: unknown;
}

interface Parked {
  readonly question: PendingQuestion;
  /** Accepts the answer, or throws why it is invalid; then the question stays. */
  readonly take: (given: GivenAnswer) => void;
  readonly withdraw: (reason: PlugboardError) => void;
  /** Ends it as if it had expired. */
  readonly expire: () => void;
  /** From a client of the gateway, which waits for a person at the page: the question ends when the page is closed. */
  readonly needsPage: boolean;
}

type Answers = Pick<QuestionQueue, 'approve' | 'elicit' | 'sample'>;

type Request = ApprovalRequest | ElicitRequest | SampleRequest;

export class ApprovalQueue implements QuestionQueue {
  readonly #clock: Clock;
  readonly #parked = new Map<QuestionId, Parked>();
  /** Facts about questions that were asked and have no answer yet. */
  readonly #facts = new Map<QuestionId, QuestionFacts>();
  #readers = 0;
  #polledAt = Number.NEGATIVE_INFINITY;
  #attendedAt = Number.NEGATIVE_INFINITY;
  #stopCheck: (() => void) | undefined;
  #closed = false;
  /** For calls through the API, whose questions are always queued here. */
  readonly forApi: Answers;
  readonly approve: QuestionQueue['approve'];
  readonly elicit: QuestionQueue['elicit'];
  readonly sample: QuestionQueue['sample'];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.forApi = this.#answers(false);
    const { approve, elicit, sample } = this.#answers(true);
    this.approve = approve;
    this.elicit = elicit;
    this.sample = sample;
  }

  get isAttended(): boolean {
    return !this.#closed && (this.#readers > 0 || ticksOf(this.#clock) - this.#polledAt < POLLER_STAYS_MS);
  }

  /** Registers a reader of the events, until the returned function is called. */
  addReader(): () => void {
    this.#readers += 1;
    let leave = (): void => {
      this.#readers -= 1;
      leave = () => {};
    };
    return () => leave();
  }

  /** Remembers the call of a question, and who asks; it is reported before it is asked. */
  put(id: QuestionId, facts: QuestionFacts): void {
    this.#facts.set(id, facts);
  }

  answered({ id }: { readonly id: QuestionId }): void {
    this.#facts.delete(id);
  }

  /** Returns a pending question. */
  get(id: QuestionId): PendingQuestion | undefined {
    return this.#parked.get(id)?.question;
  }

  /** Returns the pending questions, oldest first. */
  list(): readonly PendingQuestion[] {
    // A page reads the events, and is gone when it stops: only a client without them is expected to poll again.
    if (this.#readers === 0) this.#polledAt = ticksOf(this.#clock);
    return [...this.#parked.values()].map(({ question }) => question);
  }

  /** Answers a question; undefined if it is not pending (any longer). Throws if the answer is invalid. */
  answer(id: QuestionId, given: GivenAnswer): PendingQuestion | undefined {
    const parked = this.#parked.get(id);
    parked?.take(given);
    return parked?.question;
  }

  #answers(needsPage: boolean): Answers {
    return {
      approve: (request, id) =>
        this.#park<ApprovalAnswer>('approval', id, request, {
          needsPage,
          read: ({ answer }) => {
            const known = APPROVAL_ANSWERS.find((each) => each === answer);
            if (known === undefined) throw wrongAnswer(answer, APPROVAL_ANSWERS);
            return known;
          },
          late: () => {
            throw new PlugboardError('APPROVAL_REQUIRED', `No one answered whether ${request.name} may run`, {
              server: request.server,
              hint: 'No one answered on the page in time.',
            });
          },
        }),
      elicit: (request, id) =>
        this.#park<ElicitAnswer>('elicitation', id, request, {
          needsPage,
          read: ({ answer, content }) => {
            const action = QUESTION_ANSWERS.find((each) => each === answer);
            if (action === undefined) throw wrongAnswer(answer, QUESTION_ANSWERS);
            if (action !== 'accept' || request.mode === 'url') return { action };
            return { action, content: filledIn(request, content) };
          },
          late: () => ({ action: 'cancel' }),
        }),
      sample: (request, id) =>
        this.#park<unknown>('sampling', id, request, {
          needsPage,
          read: ({ answer, content }) => {
            if (!QUESTION_ANSWERS.some((each) => each === answer))
              throw wrongAnswer(answer, QUESTION_ANSWERS);
            if (answer !== 'accept') return undefined;
            const fault = faultOfSample(content);
            if (fault !== undefined)
              throw new PlugboardError('INVALID_ARGUMENTS', `This is not a completion: ${fault}`);
            return content;
          },
          late: () => undefined,
        }).then((completion) => completion ?? Promise.reject(noCompletion(request.server))),
    };
  }

  /** Withdraws all questions, and accepts no more. */
  close(): void {
    this.#closed = true;
    const reason = new PlugboardError('CANCELLED', 'The gateway is closing');
    this.#stopCheck?.();
    for (const { withdraw } of this.#parked.values()) withdraw(reason);
  }

  /** Checks regularly, while clients wait for a person, whether the page is still open. */
  #checkAttendance(): void {
    if (this.#stopCheck !== undefined) return;
    this.#stopCheck = this.#clock.after(ATTENDANCE_CHECK_MS, () => {
      this.#stopCheck = undefined;
      const now = ticksOf(this.#clock);
      if (this.isAttended) this.#attendedAt = now;
      const waiting = [...this.#parked.values()].filter(({ needsPage }) => needsPage);
      if (now - this.#attendedAt < PAGE_AWAY_MS) {
        if (waiting.length > 0) this.#checkAttendance();
      } else for (const { expire } of waiting) expire();
    });
  }

  #park<T>(
    kind: PendingQuestion['kind'],
    id: QuestionId,
    { signal, ...request }: Request,
    answers: {
      readonly read: (given: GivenAnswer) => T;
      readonly late: () => T;
      readonly needsPage: boolean;
    },
  ): Promise<T> {
    if (this.#closed || this.#parked.size >= MAX_PENDING) {
      const message = this.#closed ? 'the gateway is closing' : `${MAX_PENDING} questions wait already`;
      return Promise.reject(new PlugboardError('LIMIT_EXCEEDED', message, { server: request.server }));
    }
    const at = this.#clock.now();
    const question = { ...this.#facts.get(id), id, kind, ...request, at, until: at + ANSWER_LIMIT_MS };
    return new Promise<T>((resolve, reject) => {
      const settle = (end: () => void): void => {
        if (!this.#parked.delete(id)) return;
        stopClock();
        signal?.removeEventListener('abort', gone);
        end();
      };
      const gone = (): void => settle(() => reject(new PlugboardError('CANCELLED', 'The call has ended')));
      const expire = (): void => settle(() => resolve(new Promise<T>((late) => late(answers.late()))));
      const stopClock = this.#clock.after(ANSWER_LIMIT_MS, expire);
      this.#parked.set(id, {
        question,
        take: (given) => {
          const answer = answers.read(given);
          settle(() => resolve(answer));
        },
        withdraw: (reason) => settle(() => reject(reason)),
        expire,
        needsPage: answers.needsPage,
      });
      if (answers.needsPage) {
        this.#attendedAt = ticksOf(this.#clock);
        this.#checkAttendance();
      }
      signal?.addEventListener('abort', gone, { once: true });
      if (signal?.aborted) gone();
    });
  }
}

/**
 * Returns the content of a form with its defaults.
 *
 * @throws PlugboardError INVALID_ARGUMENTS if it does not match the schema.
 */
function filledIn({ schema }: ElicitRequest, content: unknown): JsonObject {
  const form = readForm(schema);
  const completed = 'refused' in form ? { content: {} } : form.complete(isRecord(content) ? content : {});
  if ('content' in completed) return completed.content;
  throw new PlugboardError(
    'INVALID_ARGUMENTS',
    `The form is not filled in: ${completed.problems.join('; ')}`,
  );
}

function wrongAnswer(answer: string, known: readonly string[]): PlugboardError {
  return new PlugboardError(
    'INVALID_ARGUMENTS',
    `${JSON.stringify(answer)} is not an answer to this question`,
    {
      hint: `It is one of ${known.join(', ')}.`,
    },
  );
}

function noCompletion(server: string): PlugboardError {
  return new PlugboardError('PROTOCOL_ERROR', 'No one provided a completion', {
    server,
    detail: { rpcCode: RPC_SAMPLING_REJECTED },
  });
}
