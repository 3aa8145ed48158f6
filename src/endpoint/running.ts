/** The running requests of one client: concurrency limit, queue, and idle state. */

import { PlugboardError } from '../errors.ts';
import { type RequestId, RPC_INTERNAL_ERROR, RPC_INVALID_REQUEST } from '../lib/json-rpc.ts';
import { NumberMap } from '../lib/number-map.ts';
import type { ClientInfo } from './client-era.ts';
import { RpcFailure } from './rpc-failure.ts';
import type { Work } from './work.ts';

/** Parallel requests of one client; further ones are queued. */
const MAX_RUNNING = 1_024;
/** Limit on running and queued requests. */
const MAX_OPEN = 16_384;

export class RunningRequests {
  readonly #numbered = new NumberMap<Work>();
  readonly #named = new Map<string, Work>();
  #added = 0;
  /** Queued requests, each with the function that starts it. */
  readonly #waiting: (() => void)[] = [];
  readonly #onIdle: (() => void)[] = [];

  get size(): number {
    return this.#numbered.size + this.#named.size;
  }

  get(id: RequestId): Work | undefined {
    return typeof id === 'number' ? this.#numbered.get(id) : this.#named.get(id);
  }

  /** Returns all requests, the newest last. */
  all(): readonly Work[] {
    return [...this.#numbered.values(), ...this.#named.values()].sort((a, b) => a.order - b.order);
  }

  /** Whether the sender of some request passes a test; requests of one legacy client share one sender. */
  someClientInfo(test: (clientInfo: ClientInfo) => boolean): boolean {
    let last: ClientInfo | undefined;
    for (const { clientInfo } of [...this.#numbered.values(), ...this.#named.values()]) {
      if (clientInfo === last) continue;
      if (test(clientInfo)) return true;
      last = clientInfo;
    }
    return false;
  }

  /** Throws if a request with this id cannot be accepted now. */
  check(id: RequestId): void {
    if (this.get(id) !== undefined)
      throw new RpcFailure(RPC_INVALID_REQUEST, 'A request with this id is being worked on');
    if (this.size >= MAX_OPEN)
      throw new RpcFailure(RPC_INTERNAL_ERROR, `More than ${MAX_OPEN} requests at once`);
  }

  add(id: RequestId, work: Work): void {
    this.#added += 1;
    work.order = this.#added;
    if (typeof id === 'number') this.#numbered.set(id, work);
    else this.#named.set(id, work);
  }

  /** Resolves when it is the work's turn; undefined if it is now. */
  turn(work: Work): Promise<void> | undefined {
    if (this.size <= MAX_RUNNING) return undefined;
    return new Promise<void>((resolve) => this.#waiting.push(resolve)).then(() => {
      if (work.isCancelled) throw new PlugboardError('CANCELLED', 'Cancelled before it started');
    });
  }

  /** Removes a request; true if none is left. */
  remove(id: RequestId): boolean {
    if (typeof id === 'number' ? this.#numbered.delete(id) : this.#named.delete(id))
      this.#waiting.shift()?.();
    if (this.size > 0) return false;
    if (this.#onIdle.length > 0) for (const wake of this.#onIdle.splice(0)) wake();
    return true;
  }

  /** Resolves when no request is running. */
  async idle(): Promise<void> {
    if (this.size > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }
}
