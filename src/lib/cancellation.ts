/**
 * A wish to stop that costs nothing until somebody looks: most calls are never taken back, and an AbortController for
 * each of them costs more than the rest of their bookkeeping.
 */

import type { PlugboardError } from '../errors.ts';

type Listener = (reason: PlugboardError) => void;

const NOBODY: readonly Listener[] = [];

/** What can be taken back, in either way. */
export interface Cancellable {
  readonly signal?: AbortSignal | undefined;
  /** In place of a signal, for callers with many calls. */
  readonly cancellation?: Cancellation | undefined;
}

/** The signal of either; one is made only now, if it has to be. */
export function signalOf({ signal, cancellation }: Cancellable): AbortSignal | undefined {
  return cancellation?.signal ?? signal;
}

/**
 * Waits with a signal that is aborted when the work is taken back, and when `until` is cancelled. Only for work that
 * really waits: it costs a controller.
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
  const ended = (reason: PlugboardError): void => controller.abort(reason);
  if (until.reason !== undefined) ended(until.reason);
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

export class Cancellation {
  /** Replaced, never changed: most have one listener or none, and nearly all of them live for one call. */
  #listeners: readonly Listener[] = NOBODY;
  #controller: AbortController | undefined;
  #reason: PlugboardError | undefined;

  /** Why it was cancelled; undefined as long as it was not. */
  get reason(): PlugboardError | undefined {
    return this.#reason;
  }

  get isCancelled(): boolean {
    return this.#reason !== undefined;
  }

  /** The same for those who speak AbortSignal; made when it is asked for, and always the same one. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  onCancel(listener: Listener): void {
    this.#listeners = this.#listeners === NOBODY ? [listener] : [...this.#listeners, listener];
  }

  offCancel(listener: Listener): void {
    const left = this.#listeners.filter((other) => other !== listener);
    this.#listeners = left.length === 0 ? NOBODY : left;
  }

  /** Only the first reason counts. */
  cancel(reason: PlugboardError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    const listeners = this.#listeners;
    this.#listeners = NOBODY;
    for (const listener of listeners) listener(reason);
  }
}
