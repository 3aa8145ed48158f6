/** Our requests to one legacy client: their ids and their responses. */

import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import type { Params } from './client-era.ts';
import type { Ask, Exchange } from './work.ts';

/** Questions that may be open for one person at the same time. */
const MAX_OPEN = 64;

const NAME_CHARS = 8;

interface Pending {
  resolve(result: unknown): void;
  reject(error: PlugboardError): void;
}

export class Outbound {
  /** Unique per process: an answer that was meant for an exited daemon must not answer its successor. */
  #name = '';
  /** Created for the first question: a client without a session has one of these for each request. */
  #pending: Map<string, Pending> | undefined;
  #asked = 0;
  /** Why the client can no longer be asked. */
  #over: PlugboardError | undefined;

  readonly #broadcast: (message: JsonRpcMessage) => boolean;

  /** `broadcast`: sends a message outside of the client's requests; false if it cannot be sent. */
  constructor(broadcast: (message: JsonRpcMessage) => boolean) {
    this.#broadcast = broadcast;
  }

  /** Asks on the stream of the client's own request, if there is one. */
  on(exchange: Exchange | undefined): Ask {
    return (method, params, signal) => this.#request(method, params, signal, exchange);
  }

  #request(
    method: string,
    params: Params,
    signal: AbortSignal | undefined,
    exchange: Exchange | undefined,
  ): Promise<unknown> {
    const send = (message: JsonRpcMessage): boolean =>
      exchange?.send(message) === true || this.#broadcast(message);
    return new Promise((resolve, reject) => {
      if (this.#over !== undefined) return reject(this.#over);
      if (signal?.aborted) return reject(givenUp(method));
      this.#pending ??= new Map();
      const pending = this.#pending;
      if (pending.size >= MAX_OPEN) {
        return reject(
          new PlugboardError('LIMIT_EXCEEDED', `More than ${MAX_OPEN} questions wait for this client`),
        );
      }
      this.#asked += 1;
      // Created for the first question: loading crypto takes longer than starting a small server.
      this.#name ||= crypto.randomUUID().slice(0, NAME_CHARS);
      const id = `plugboard-${this.#name}-${this.#asked}`;
      const forget = (): void => {
        pending.delete(id);
        signal?.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        forget();
        send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
        reject(givenUp(method));
      };
      pending.set(id, {
        resolve(result) {
          forget();
          resolve(result);
        },
        reject(error) {
          forget();
          reject(error);
        },
      });
      signal?.addEventListener('abort', onAbort, { once: true });
      if (send({ jsonrpc: '2.0', id, method, params })) return;
      forget();
      reject(new PlugboardError('CONNECTION_LOST', `The client cannot be reached for ${method}`));
    });
  }

  /** Handles a response of the client; one with an unknown id is ignored. */
  answered({ id, result, error }: Params): void {
    const pending = typeof id === 'string' ? this.#pending?.get(id) : undefined;
    if (pending === undefined) return;
    if (error === undefined || error === null) {
      pending.resolve(result);
      return;
    }
    const { code, message } = isRecord(error) ? error : {};
    pending.reject(
      new PlugboardError('PROTOCOL_ERROR', typeof message === 'string' ? message : 'The client refused', {
        detail: typeof code === 'number' ? { rpcCode: code } : {},
      }),
    );
  }

  close(reason: PlugboardError): void {
    this.#over = reason;
    for (const pending of [...(this.#pending?.values() ?? [])]) pending.reject(reason);
  }
}

function givenUp(method: string): PlugboardError {
  return new PlugboardError('CANCELLED', `${method} is no longer awaited`);
}
