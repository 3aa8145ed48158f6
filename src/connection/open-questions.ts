/**
 * Tracks every question to a person or a model (approval, elicitation, sampling): one `question` event, one `answer`
 * event.
 */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Emitter } from '../lib/emitter.ts';
import { unlessAborted } from '../lib/waits.ts';
import { hostClosed } from './reasons.ts';

/** The id of a question in the events `question` and `answer`. */
export type QuestionId = string;

/** The description of a question, for surfaces that show pending questions. */
export interface Question {
  readonly kind: 'approval' | 'elicitation' | 'sampling';
  readonly server: string;
  readonly session: string;
  /** The id of its call, as in `call.begin`, if known. */
  readonly call?: string;
  /** The members that the callback of its kind receives. */
  readonly [detail: string]: unknown;
}

export interface QuestionEvents {
  /**
   * `{ id, kind, server, session, call?, … }`: a question was asked; `kind` is `approval`, `elicitation` or `sampling`.
   */
  readonly question: { readonly id: QuestionId } & Question;
  /**
   * `{ id, kind, answer }`: the answer to a question; `cancelled` if it is no longer needed, `failed` if the callback
   * threw.
   */
  readonly answer: { readonly id: QuestionId; readonly kind: Question['kind']; readonly answer: string };
}

/** A question that was asked, with the handle to await its answer. */
export interface PutQuestion {
  readonly id: QuestionId;
  /** Aborted when the question is withdrawn; passed to the callback. */
  readonly signal: AbortSignal;
  /**
   * Waits for the answer, or until the question is withdrawn. Rejects with a PlugboardError only.
   * `inAWord` returns the text of the answer for the event `answer`.
   */
  answered<T>(asked: Promise<T>, inAWord: (answer: T) => string): Promise<T>;
}

export interface OpenQuestions {
  /** Reports a question, with the id of its call; throws if `signal` is already aborted. */
  put(question: Question, signal?: AbortSignal, call?: string): PutQuestion;
  /** Withdraws the open questions that match `applies`. */
  withdraw(applies: (question: Question) => boolean, reason: () => PlugboardError): void;
  /** Withdraws all open questions and rejects later ones. */
  close(): void;
}

export function createOpenQuestions(
  events: Pick<Emitter<QuestionEvents>, 'emit'>,
  idPrefix = '',
): OpenQuestions {
  let asked = 0;
  let isClosed = false;
  const open = new Map<AbortController, Question>();
  return {
    put(question, signal, call) {
      asked += 1;
      const id = `${idPrefix}q${asked}`;
      const { kind, server } = question;
      if (isClosed) throw hostClosed(server);
      const over = new AbortController();
      const takenBack = (): void => over.abort(signal?.reason);
      const end = (answer: string): void => events.emit('answer', { id, kind, answer });
      if (signal?.aborted) throw withdrawn(kind, server, signal.reason);
      open.set(over, question);
      signal?.addEventListener('abort', takenBack, { once: true });
      events.emit('question', call === undefined ? { id, ...question } : { id, ...question, call });
      return {
        id,
        signal: over.signal,
        async answered(work, inAWord) {
          try {
            // The callback is external code and may never settle: a cancelled call must not wait for it.
            const answer = await unlessAborted(work, over.signal, (reason) =>
              withdrawn(kind, server, reason),
            );
            end(inAWord(answer));
            return answer;
          } catch (thrown) {
            const error = asPlugboardError(thrown);
            end(error.code === 'CANCELLED' ? 'cancelled' : 'failed');
            throw error;
          } finally {
            open.delete(over);
            signal?.removeEventListener('abort', takenBack);
          }
        },
      };
    },
    withdraw(applies, reason) {
      for (const [over, question] of open) if (applies(question)) over.abort(reason());
    },
    close() {
      isClosed = true;
      for (const over of open.keys()) over.abort(hostClosed());
    },
  };
}

/**
 * Adds the signal to a question for its callback. The property is enumerable only if the caller passed a signal:
 * requests are compared and logged, and the signal would appear in each of them.
 */
export function withSignal<T extends object>(
  request: T,
  question: Pick<PutQuestion, 'signal'>,
  given: AbortSignal | undefined,
): T & { readonly signal: AbortSignal } {
  const { signal } = question;
  const asked = { ...request };
  Object.defineProperty(asked, 'signal', { value: signal, enumerable: given !== undefined });
  return asked as T & { readonly signal: AbortSignal };
}

function withdrawn(kind: string, server: string, reason: unknown): PlugboardError {
  if (reason instanceof PlugboardError) return reason;
  return new PlugboardError('CANCELLED', `The call was cancelled while its ${kind} was asked about`, {
    server,
    cause: reason,
  });
}
