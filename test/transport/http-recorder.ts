/** Everything that a transport reported to its owner, and waiting for it without sleeping blindly. */

import type { PlugboardError } from '../../src/errors.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { JsonRpcMessage, RequestId } from '../../src/lib/json-rpc.ts';
import type { Notice, Receiver } from '../../src/transport/contract.ts';

export class Recorder implements Receiver {
  readonly messages: JsonRpcMessage[] = [];
  readonly losses: { readonly id: RequestId | undefined; readonly error: PlugboardError }[] = [];
  readonly notices: Notice[] = [];
  readonly closes: (PlugboardError | undefined)[] = [];

  message(message: JsonRpcMessage): void {
    this.messages.push(message);
  }

  lost(id: RequestId | undefined, error: PlugboardError): void {
    this.losses.push({ id, error });
  }

  closed(error?: PlugboardError): void {
    this.closes.push(error);
  }

  notice(notice: Notice): void {
    this.notices.push(notice);
  }
}

/** A clock on which time passes only by hand. */
export class ManualClock implements Clock {
  #now = 0;
  #started = 0;
  readonly #timers = new Map<object, { readonly at: number; readonly fn: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, fn: () => void): () => void {
    const key = {};
    this.#started++;
    this.#timers.set(key, { at: this.#now + ms, fn });
    return () => this.#timers.delete(key);
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** How many were ever set: distinguishes one pending timer from the one after it. */
  get started(): number {
    return this.#started;
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const [key, timer] of [...this.#timers]) {
      if (timer.at > this.#now || !this.#timers.delete(key)) continue;
      timer.fn();
    }
  }
}
