/** One request of a client while it is worked on: how it is cancelled, and how the client is asked something about it. */

import { PlugboardError } from '../errors.ts';
import { Cancellation } from '../lib/cancellation.ts';
import type { JsonRpcMessage, RequestId } from '../lib/json-rpc.ts';
import type { Asker, Params } from './eras.ts';
import type { RpcFailure } from './rpc-failure.ts';

/** The way back to whoever sent one request. Transports make it; it ends with the answer. */
export interface Exchange {
  /** What has to arrive before the answer: progress, log messages, questions. False when it cannot be sent. */
  send(message: JsonRpcMessage): boolean;
  /** Called by the transport when the client has gone away before it had its answer. */
  onGone: ((reason: PlugboardError) => void) | undefined;
}

/**
 * Puts a question to the client; rejects when it cannot be put or is given up. `key`: what a modern client finds it
 * under, if that matters to anybody.
 */
export type Ask = (
  method: string,
  params: Params,
  signal: AbortSignal | undefined,
  key?: string,
) => Promise<unknown>;

export class Work extends Cancellation {
  readonly id: RequestId;
  readonly asker: Asker;
  /** The tool that is called, if this is a call. */
  readonly tool: string | undefined;
  /** Whom a request that is no call was handed to, where there are several. */
  server: string | undefined;
  /** Undefined while a modern client is between two rounds. */
  exchange: Exchange | undefined;
  ask: Ask;
  /** Why the request cannot be answered, whatever becomes of the work. */
  failure: RpcFailure | undefined;

  constructor(id: RequestId, asker: Asker, exchange: Exchange, ask: Ask, tool?: string) {
    super();
    this.id = id;
    this.asker = asker;
    this.tool = tool;
    this.ask = ask;
    this.attach(exchange);
  }

  /** From here on, this is where the client listens; when it leaves, the work ends. */
  attach(exchange: Exchange): void {
    this.detach();
    this.exchange = exchange;
    exchange.onGone = (reason) => this.cancel(reason);
  }

  detach(): void {
    if (this.exchange !== undefined) this.exchange.onGone = undefined;
    this.exchange = undefined;
  }

  notify(method: string, params: Params): void {
    this.exchange?.send({ jsonrpc: '2.0', method, params });
  }

  /** The request ends with this error, and the work for it is cancelled. */
  fail(failure: RpcFailure): void {
    this.failure = failure;
    this.cancel(new PlugboardError('CANCELLED', failure.message));
  }
}
