/** Every question to a person or a model, from the moment it is put until it is answered: told once, ended once. */

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
  /** `{ id, kind, server, session, … }`: somebody is asked; `kind` is `approval`, `elicitation` or `sampling`. */
  readonly question: { readonly id: QuestionId } & Question;
  /** `{ id, kind, answer }`: what was said; `cancelled` when nobody waits for it any more, `failed` when asking threw. */
  readonly answer: { readonly id: QuestionId; readonly kind: Question['kind']; readonly answer: string };
}

export interface Board {
  /**
   * Puts a question and waits for its answer, or until `signal` says that nobody needs it any more.
   * Rejects with a PlugboardError only.
   */
  ask<T>(
    question: Question,
    put: (id: QuestionId) => T | Promise<T>,
    inAWord: (answer: T) => string,
    signal?: AbortSignal,
  ): Promise<T>;
}

export function createBoard(events: Pick<Emitter<QuestionEvents>, 'emit'>, idPrefix = ''): Board {
  let asked = 0;
  return {
    async ask(question, put, inAWord, signal) {
      asked += 1;
      const id = `${idPrefix}q${asked}`;
      const { kind, server } = question;
      const end = (answer: string): void => events.emit('answer', { id, kind, answer });
      if (signal?.aborted) throw withdrawn(kind, server, signal);
      events.emit('question', { id, ...question });
      try {
        const answer = await untilAborted(
          () => put(id),
          signal,
          () => withdrawn(kind, server, signal),
        );
        end(inAWord(answer));
        return answer;
      } catch (thrown) {
        const error = asPlugboardError(thrown);
        end(error.code === 'CANCELLED' ? 'cancelled' : 'failed');
        throw error;
      }
    },
  };
}

/** The callback is not ours and may never answer: whoever gave up must not wait for it. */
function untilAborted<T>(
  put: () => T | Promise<T>,
  signal: AbortSignal | undefined,
  reason: () => PlugboardError,
): Promise<T> {
  // A callback may throw at once; that is an answer like any other.
  const work = Promise.resolve().then(put);
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
