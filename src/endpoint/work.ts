/** One running request of a client: its cancellation, and questions to the client about it. */

import type { IncomingHttpHeaders } from 'node:http';
import { PlugboardError } from '../errors.ts';
import { Cancellation } from '../lib/cancellation.ts';
import type { JsonRpcMessage, RequestId } from '../lib/json-rpc.ts';
import type { ClientInfo, Params } from './client-era.ts';
import type { Caller } from './guard.ts';
import type { RpcFailure } from './rpc-failure.ts';

/** The response channel of one request. Transports create it; it ends with the response. */
export interface Exchange {
  /** Sends a message before the response: progress, log messages, questions. False if it cannot be sent. */
  send(message: JsonRpcMessage): boolean;
  /** Called by the transport if the client disconnects before the response. */
  onGone: ((reason: PlugboardError) => void) | undefined;
  /** The headers of its HTTP request. */
  readonly headers?: IncomingHttpHeaders | undefined;
  /** The authenticated sender of its HTTP request. */
  readonly caller?: Caller | undefined;
}

/**
 * Sends a question to the client; rejects if it cannot be sent or is cancelled. `key`: the key of the question for a
 * modern client, if it matters.
 */
export type Ask = (
  method: string,
  params: Params,
  signal: AbortSignal | undefined,
  key?: string,
) => Promise<unknown>;

export class Work extends Cancellation {
  readonly id: RequestId;
  readonly clientInfo: ClientInfo;
  /** The called tool, if this is a call. */
  readonly tool: string | undefined;
  /** The server that a request other than a call was routed to, where there are several. */
  server: string | undefined;
  /** Its place among the running requests of its client, in the order in which they were added. */
  order = 0;
  /** Undefined while a modern client is between two rounds. */
  exchange: Exchange | undefined;
  ask: Ask;
  /** Those of the client's latest HTTP request for this work. */
  headers: IncomingHttpHeaders | undefined;
  caller: Caller | undefined;
  /** Names the state from which another process can continue a modern request, if there is one. */
  continuation: string | undefined;
  /** Why the request cannot be answered, whatever the result of the work. */
  failure: RpcFailure | undefined;
  #isStopped = false;

  constructor(id: RequestId, clientInfo: ClientInfo, exchange: Exchange, ask: Ask, tool?: string) {
    super();
    this.id = id;
    this.clientInfo = clientInfo;
    this.tool = tool;
    this.ask = ask;
    this.attach(exchange);
  }

  /** Sets the client's current response channel; if the client disconnects, the work is cancelled. */
  attach(exchange: Exchange): void {
    this.detach();
    this.exchange = exchange;
    this.headers = exchange.headers;
    this.caller = exchange.caller;
    exchange.onGone = (reason) => this.cancel(reason);
  }

  detach(): void {
    if (this.exchange !== undefined) this.exchange.onGone = undefined;
    this.exchange = undefined;
  }

  /** True if its client cancelled it or disconnected: then it gets no response. */
  get isAbandoned(): boolean {
    return this.isCancelled && !this.#isStopped;
  }

  override stop(reason: PlugboardError): void {
    if (!this.isCancelled) this.#isStopped = true;
    this.cancel(reason);
  }

  notify(method: string, params: Params): void {
    this.exchange?.send({ jsonrpc: '2.0', method, params });
  }

  /** Ends the request with this error and cancels its work. */
  fail(failure: RpcFailure): void {
    this.failure = failure;
    this.cancel(new PlugboardError('CANCELLED', failure.message));
  }
}
