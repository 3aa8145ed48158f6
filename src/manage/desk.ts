/** Questions that wait for a person at the page, or for a program that answers for one: bounded, and not for ever. */

import { howToAllow } from '../call/ask-person.ts';
import type { ApprovalAnswer, ApprovalRequest } from '../call/session.ts';
import type { ElicitAnswer, ElicitRequest, SampleRequest } from '../connection/questions.ts';
import type { QuestionId } from '../connection/questions-board.ts';
import { readForm } from '../connection/questions-form.ts';
import { faultOfSample, RPC_SAMPLING_REJECTED } from '../connection/questions-sample.ts';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json-rpc.ts';
import type { QuestionDesk } from '../serve/questions.ts';

const MAX_PENDING = 100;
const ANSWER_LIMIT_MS = 300_000;
/** Whoever asked for the list so recently will ask again. */
const POLLER_STAYS_MS = 30_000;

export const APPROVAL_ANSWERS: readonly ApprovalAnswer[] = [
  'allow',
  'allow-session',
  'allow-always',
  'deny',
  'cancel',
];
export const QUESTION_ANSWERS: readonly ElicitAnswer['action'][] = ['accept', 'decline', 'cancel'];

export interface PendingQuestion {
  readonly id: QuestionId;
  readonly kind: 'approval' | 'elicitation' | 'sampling';
  readonly server: string;
  readonly session: string;
  /** When it was put, and when nobody waits for it any more; milliseconds since the epoch. */
  readonly at: number;
  readonly until: number;
  readonly [detail: string]: unknown;
}

export interface GivenAnswer {
  readonly answer: string;
  readonly content?: unknown;
}

interface Parked {
  readonly question: PendingQuestion;
  /** Takes the answer, or throws why it cannot be one; then the question stays. */
  readonly take: (given: GivenAnswer) => void;
  readonly withdraw: (reason: PlugboardError) => void;
}

type Request = ApprovalRequest | ElicitRequest | SampleRequest;

export class Desk implements QuestionDesk {
  readonly #clock: Clock;
  readonly #parked = new Map<QuestionId, Parked>();
  #readers = 0;
  #polledAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isAttended(): boolean {
    return !this.#closed && (this.#readers > 0 || this.#clock.now() - this.#polledAt < POLLER_STAYS_MS);
  }

  /** Somebody reads the events, until the returned function is called. */
  attend(): () => void {
    this.#readers += 1;
    let leave = (): void => {
      this.#readers -= 1;
      leave = () => {};
    };
    return () => leave();
  }

  /** What waits, oldest first. */
  list(): readonly PendingQuestion[] {
    this.#polledAt = this.#clock.now();
    return [...this.#parked.values()].map(({ question }) => question);
  }

  /** Answers one; undefined when it does not wait (any more). Throws when the answer does not fit. */
  answer(id: QuestionId, given: GivenAnswer): PendingQuestion | undefined {
    const parked = this.#parked.get(id);
    parked?.take(given);
    return parked?.question;
  }

  readonly approve: QuestionDesk['approve'] = (request, id) =>
    this.#park<ApprovalAnswer>('approval', id, request, {
      read: ({ answer }) => {
        const known = APPROVAL_ANSWERS.find((each) => each === answer);
        if (known === undefined) throw wrongAnswer(answer, APPROVAL_ANSWERS);
        return known;
      },
      late: () => {
        throw new PlugboardError('APPROVAL_REQUIRED', `nobody answered whether ${request.name} may run`, {
          server: request.server,
          hint: `To allow it without a question, ${howToAllow(request.name, request)}.`,
        });
      },
    });

  readonly elicit: QuestionDesk['elicit'] = (request, id) =>
    this.#park<ElicitAnswer>('elicitation', id, request, {
      read: ({ answer, content }) => {
        const action = QUESTION_ANSWERS.find((each) => each === answer);
        if (action === undefined) throw wrongAnswer(answer, QUESTION_ANSWERS);
        if (action !== 'accept' || request.mode === 'url') return { action };
        return { action, content: filledIn(request, content) };
      },
      late: () => ({ action: 'cancel' }),
    });

  readonly sample: QuestionDesk['sample'] = (request, id) =>
    this.#park<unknown>('sampling', id, request, {
      read: ({ answer, content }) => {
        if (!QUESTION_ANSWERS.some((each) => each === answer)) throw wrongAnswer(answer, QUESTION_ANSWERS);
        if (answer !== 'accept') return undefined;
        const fault = faultOfSample(content);
        if (fault !== undefined)
          throw new PlugboardError('INVALID_ARGUMENTS', `This is no completion: ${fault}.`);
        return content;
      },
      late: () => undefined,
    }).then((completion) => completion ?? Promise.reject(noCompletion(request.server)));

  /** Nobody is asked any more, and nobody waits. */
  close(): void {
    this.#closed = true;
    const reason = new PlugboardError('CANCELLED', 'the gateway is closing');
    for (const { withdraw } of this.#parked.values()) withdraw(reason);
  }

  #park<T>(
    kind: PendingQuestion['kind'],
    id: QuestionId,
    { signal, ...request }: Request,
    answers: { readonly read: (given: GivenAnswer) => T; readonly late: () => T },
  ): Promise<T> {
    if (this.#closed || this.#parked.size >= MAX_PENDING) {
      const message = this.#closed ? 'nobody can be asked any more' : `${MAX_PENDING} questions wait already`;
      return Promise.reject(new PlugboardError('LIMIT_EXCEEDED', message, { server: request.server }));
    }
    const at = this.#clock.now();
    return new Promise<T>((resolve, reject) => {
      const settle = (end: () => void): void => {
        if (!this.#parked.delete(id)) return;
        stopClock();
        signal?.removeEventListener('abort', gone);
        end();
      };
      const gone = (): void => settle(() => reject(new PlugboardError('CANCELLED', 'the call has ended')));
      const stopClock = this.#clock.after(ANSWER_LIMIT_MS, () =>
        settle(() => resolve(new Promise<T>((late) => late(answers.late())))),
      );
      this.#parked.set(id, {
        question: { id, kind, ...request, at, until: at + ANSWER_LIMIT_MS },
        take: (given) => {
          const answer = answers.read(given);
          settle(() => resolve(answer));
        },
        withdraw: (reason) => settle(() => reject(reason)),
      });
      signal?.addEventListener('abort', gone, { once: true });
      if (signal?.aborted) gone();
    });
  }
}

/** What a person filled in, with its defaults; a form that is wrong comes back to be mended. */
function filledIn({ schema }: ElicitRequest, content: unknown): Readonly<Record<string, unknown>> {
  const form = readForm(schema);
  const completed = 'refused' in form ? { content: {} } : form.complete(isRecord(content) ? content : {});
  if ('content' in completed) return completed.content;
  throw new PlugboardError(
    'INVALID_ARGUMENTS',
    `The form is not filled in: ${completed.problems.join('; ')}.`,
  );
}

function wrongAnswer(answer: string, known: readonly string[]): PlugboardError {
  return new PlugboardError('INVALID_ARGUMENTS', `${JSON.stringify(answer)} is no answer to this question.`, {
    hint: `It is one of ${known.join(', ')}.`,
  });
}

function noCompletion(server: string): PlugboardError {
  return new PlugboardError('PROTOCOL_ERROR', 'nobody gave a completion', {
    server,
    detail: { rpcCode: RPC_SAMPLING_REJECTED },
  });
}
