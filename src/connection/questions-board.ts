/** Every question to a person or a model, from the moment it is put until it is answered: reported once, ended once. */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Emitter } from '../lib/emitter.ts';

/** What a question is called in the events `question` and `answer`. */
export type QuestionId = string;

/** What a question is about. Surfaces that show pending questions show this. */
export interface Question {
  readonly kind: 'approval' | 'elicitation' | 'sampling';
  readonly server: string;
  readonly session: string;
  /** The rest is what the callback of its kind is given. */
  readonly [detail: string]: unknown;
}

export interface QuestionEvents {
  /** `{ id, kind, server, session, … }`: a question was put; `kind` is `approval`, `elicitation` or `sampling`. */
  readonly question: { readonly id: QuestionId } & Question;
  /** `{ id, kind, answer }`: what was answered; `cancelled` when the answer is not needed, `failed` when asking threw. */
  readonly answer: { readonly id: QuestionId; readonly kind: Question['kind']; readonly answer: string };
}

/** A question that was put: its answer is awaited here, and given nowhere else. */
export interface PutQuestion {
  readonly id: QuestionId;
  /**
   * Waits for the answer, or until the question's signal aborts. Rejects with a PlugboardError only.
   * `inAWord`: the answer for the event `answer`.
   */
  answered<T>(asked: Promise<T>, inAWord: (answer: T) => string): Promise<T>;
}

export interface Board {
  /** Reports a question; throws if `signal` is aborted already. */
  put(question: Question, signal?: AbortSignal): PutQuestion;
}

export function createBoard(events: Pick<Emitter<QuestionEvents>, 'emit'>, idPrefix = ''): Board {
  let asked = 0;
  return {
    put(question, signal) {
      asked += 1;
      const id = `${idPrefix}q${asked}`;
      const { kind, server } = question;
      const end = (answer: string): void => events.emit('answer', { id, kind, answer });
      if (signal?.aborted) throw withdrawn(kind, server, signal);
      events.emit('question', { id, ...question });
      return {
        id,
        async answered(work, inAWord) {
          try {
            const answer = await untilAborted(work, signal, () => withdrawn(kind, server, signal));
            end(inAWord(answer));
            return answer;
          } catch (thrown) {
            const error = asPlugboardError(thrown);
            end(error.code === 'CANCELLED' ? 'cancelled' : 'failed');
            throw error;
          }
        },
      };
    },
  };
}

/** The callback is foreign code and may never answer: a caller that gave up must not wait for it. */
function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  reason: () => PlugboardError,
): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(reason());
    signal.addEventListener('abort', onAbort, { once: true });
    // Between the first look at it and here.
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function withdrawn(kind: string, server: string, signal: AbortSignal | undefined): PlugboardError {
  if (signal?.reason instanceof PlugboardError) return signal.reason;
  return new PlugboardError('CANCELLED', `the call was cancelled while its ${kind} was asked about`, {
    server,
    cause: signal?.reason,
  });
}
