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
  /** The call that it belongs to, as `call.begin` has it, where that is known. */
  readonly call?: string;
  /** The rest is what the callback of its kind is given. */
  readonly [detail: string]: unknown;
}

export interface QuestionEvents {
  /** `{ id, kind, server, session, call?, … }`: a question was put; `kind` is `approval`, `elicitation` or `sampling`. */
  readonly question: { readonly id: QuestionId } & Question;
  /** `{ id, kind, answer }`: what was answered; `cancelled` when the answer is not needed, `failed` when asking threw. */
  readonly answer: { readonly id: QuestionId; readonly kind: Question['kind']; readonly answer: string };
}

/** A question that was put: its answer is awaited here, and given nowhere else. */
export interface PutQuestion {
  readonly id: QuestionId;
  /** Aborted when the question is withdrawn, for the callback that asks. */
  readonly signal: AbortSignal;
  /**
   * Waits for the answer, or until it is withdrawn. Rejects with a PlugboardError only.
   * `inAWord`: the answer for the event `answer`.
   */
  answered<T>(asked: Promise<T>, inAWord: (answer: T) => string): Promise<T>;
}

export interface Board {
  /** Reports a question, with the id of its call; throws if `signal` is aborted already. */
  put(question: Question, signal?: AbortSignal, call?: string): PutQuestion;
  /** Withdraws the open questions that `applies` to. */
  withdraw(applies: (question: Question) => boolean, reason: PlugboardError): void;
  /** Ends every question that is open, and each that is still put. */
  close(): void;
}

export function createBoard(events: Pick<Emitter<QuestionEvents>, 'emit'>, idPrefix = ''): Board {
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
            const answer = await untilAborted(work, over.signal, (reason) => withdrawn(kind, server, reason));
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
      for (const [over, question] of open) if (applies(question)) over.abort(reason);
    },
    close() {
      isClosed = true;
      for (const over of open.keys()) over.abort(hostClosed());
    },
  };
}

/** The callback is foreign code and may never answer: a caller that gave up must not wait for it. */
function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  error: (reason: unknown) => PlugboardError,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(error(signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    // Between the first look at it and here.
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/**
 * A question as its callback is given it. The signal is enumerable only where the asker had one of its own: requests are
 * compared and logged, and a signal in each of them would be in the way.
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
  return new PlugboardError('CANCELLED', `the call was cancelled while its ${kind} was asked about`, {
    server,
    cause: reason,
  });
}

function hostClosed(server?: string): PlugboardError {
  return new PlugboardError('CANCELLED', 'the call was cancelled: the host was closed', { server });
}
