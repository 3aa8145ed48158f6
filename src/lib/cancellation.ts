/**
 * A cheap cancellation token: most calls are never cancelled, and an AbortController for each of them costs more than
 * the rest of their bookkeeping, so it is created only on demand.
 */

import { asPlugboardError, type PlugboardError } from '../errors.ts';

type Listener = () => void;

const NO_LISTENERS: readonly Listener[] = [];

/** Options of a cancellable operation, with either mechanism. */
export interface Cancellable {
  readonly signal?: AbortSignal | undefined;
  /** Used instead of a signal by callers with many calls. */
  readonly cancellation?: Cancellation | undefined;
}

/** Returns the signal of either; creates one only if necessary. */
export function signalOf({ signal, cancellation }: Cancellable): AbortSignal | undefined {
  return cancellation?.signal ?? signal;
}

/**
 * Runs `act` with a signal that is aborted when the work or `until` is cancelled. Only for work that really waits: it
 * costs a controller.
 */
export async function whileOpen<T>(
  work: Cancellable,
  until: Cancellation | undefined,
  act: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const given = signalOf(work);
  if (until === undefined) return act(given);
  const controller = new AbortController();
  const takenBack = (): void => controller.abort(given?.reason);
  const ended = (): void => controller.abort(until.reason);
  if (until.isCancelled) ended();
  if (given?.aborted) takenBack();
  given?.addEventListener('abort', takenBack, { once: true });
  until.onCancel(ended);
  try {
    return await act(controller.signal);
  } finally {
    given?.removeEventListener('abort', takenBack);
    until.offCancel(ended);
  }
}

/** Returns a cancellation that a signal cancels too, and the function that ends this connection. */
export function cancellationBy(signal: AbortSignal | undefined): {
  readonly cancellation: Cancellation;
  readonly release: () => void;
} {
  const cancellation = new Cancellation();
  if (signal === undefined) return { cancellation, release: () => {} };
  const aborted = (): void => cancellation.cancel(asPlugboardError(signal.reason, 'CANCELLED'));
  signal.addEventListener('abort', aborted, { once: true });
  if (signal.aborted) aborted();
  return { cancellation, release: () => signal.removeEventListener('abort', aborted) };
}

export class Cancellation {
  /** Replaced, never mutated: most have at most one listener, and nearly all of them live for one call. */
  #listeners: readonly Listener[] = NO_LISTENERS;
  #controller: AbortController | undefined;
  #reason: PlugboardError | (() => PlugboardError) | undefined;

  /** The reason of the cancellation; undefined if it was not cancelled. */
  get reason(): PlugboardError | undefined {
    if (typeof this.#reason === 'function') this.#reason = this.#reason();
    return this.#reason;
  }

  get isCancelled(): boolean {
    return this.#reason !== undefined;
  }

  /** The cancellation as an AbortSignal; created on first use, then always the same one. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.isCancelled) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  onCancel(listener: Listener): void {
    this.#listeners = this.#listeners === NO_LISTENERS ? [listener] : [...this.#listeners, listener];
  }

  offCancel(listener: Listener): void {
    const left = this.#listeners.filter((other) => other !== listener);
    this.#listeners = left.length === 0 ? NO_LISTENERS : left;
  }

  /** Ends the work for another reason than its caller's: the caller still gets an answer, which is the reason. */
  stop(reason: PlugboardError): void {
    this.cancel(reason);
  }

  /** Cancels; only the first reason is used. A function creates the reason when it is needed: errors are expensive. */
  cancel(reason: PlugboardError | (() => PlugboardError)): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    if (this.#controller !== undefined) this.#controller.abort(this.reason);
    const listeners = this.#listeners;
    this.#listeners = NO_LISTENERS;
    for (const listener of listeners) listener();
  }
}
