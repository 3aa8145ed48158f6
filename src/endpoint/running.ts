/** The running requests of one client: concurrency limit, queue, and idle state. */

import { PlugboardError } from '../errors.ts';
import { type RequestId, RPC_INTERNAL_ERROR, RPC_INVALID_REQUEST } from '../lib/json-rpc.ts';
import { NumberMap } from '../lib/number-map.ts';
import { RpcFailure } from './rpc-failure.ts';
import type { Work } from './work.ts';

/** Parallel requests of one client; further ones are queued. */
const MAX_RUNNING = 1_024;
/** Limit on running and queued requests. */
const MAX_OPEN = 16_384;

export class RunningRequests {
  readonly #numbered = new NumberMap<Work>();
  /** Requests with other ids than numbers; created for the first of them. */
  #named: Map<string, Work> | undefined;
  #added = 0;
  /** Number of requests whose client can be asked. */
  #askable = 0;
  /** Queued requests, each with the function that starts it. */
  readonly #waiting: (() => void)[] = [];
  readonly #onIdle: (() => void)[] = [];

  get size(): number {
    return this.#numbered.size + (this.#named?.size ?? 0);
  }

  get(id: RequestId): Work | undefined {
    return typeof id === 'number' ? this.#numbered.get(id) : this.#named?.get(id);
  }

  /** Returns all requests, the newest last. */
  all(): readonly Work[] {
    const all = [...this.#numbered.values(), ...(this.#named?.values() ?? [])];
    return all.sort((a, b) => a.order - b.order);
  }

  /** True if the client of some request can be asked anything. */
  get isAskable(): boolean {
    return this.#askable > 0;
  }

  /** Throws if a request with this id cannot be accepted now. */
  check(id: RequestId): void {
    if (this.get(id) !== undefined)
      throw new RpcFailure(RPC_INVALID_REQUEST, 'A request with this id is being worked on');
    if (this.size >= MAX_OPEN)
      throw new RpcFailure(RPC_INTERNAL_ERROR, `More than ${MAX_OPEN} requests at once`);
  }

  add(id: RequestId, work: Work): void {
    this.#delete(id);
    this.#added += 1;
    work.order = this.#added;
    if (work.clientInfo.isAskable) this.#askable += 1;
    if (typeof id === 'number') this.#numbered.set(id, work);
    else {
      this.#named ??= new Map();
      this.#named.set(id, work);
    }
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
    if (this.#delete(id)) this.#waiting.shift()?.();
    if (this.size > 0) return false;
    if (this.#onIdle.length > 0) for (const wake of this.#onIdle.splice(0)) wake();
    return true;
  }

  #delete(id: RequestId): boolean {
    const work = this.get(id);
    if (work === undefined) return false;
    if (work.clientInfo.isAskable) this.#askable -= 1;
    if (typeof id === 'number') this.#numbered.delete(id);
    else this.#named?.delete(id);
    return true;
  }

  /** Resolves when no request is running. */
  async idle(): Promise<void> {
    if (this.size > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }
}
