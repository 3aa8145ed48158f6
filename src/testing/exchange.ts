/** One client request as a script's handler sees it, with methods for everything besides its result. */

import { defined } from '../lib/defined.ts';
import { isRecord } from '../lib/json.ts';
import type { JsonRpcMessage, JsonRpcRequest } from '../lib/json-rpc.ts';
import type { Era } from './era.ts';

/** Returned by a handler to leave its request unanswered. */
export const NO_ANSWER: unique symbol = Symbol('no answer');

/** Connection to the client; implemented by the in-memory pair and the stdio program. */
export interface Wire {
  send(message: JsonRpcMessage): void;
  /** Writes text unchanged: noise, half a message, an invalid response. */
  line(text: string): void;
  /** Ends the server like a crash; nothing is sent after it. */
  crash(exitCode?: number): void;
}

/** One request to a scripted server, and the ways to answer it. */
export interface Exchange {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly id: JsonRpcRequest['id'];
  readonly era: Era;
  /** Aborted when the client cancels this request or the connection ends. */
  readonly signal: AbortSignal;
  /** Sends a notification. */
  notify(method: string, params?: Readonly<Record<string, unknown>>): void;
  /** Sends progress of this request; does nothing if the client did not request it. */
  progress(progress: number, total?: number, message?: string): void;
  /** Sends a request to the client and waits for its result. Rejects in the modern era, which has no such requests. */
  request(method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Writes a line as it is, valid or not. */
  line(text: string): void;
  /** Ends the server at once. */
  crash(exitCode?: number): void;
}

/** Answers one method of a scripted server. */
export type Handler = (exchange: Exchange) => unknown;

export interface ExchangeParts {
  readonly message: JsonRpcRequest;
  readonly era: Era;
  readonly signal: AbortSignal;
  readonly wire: Wire;
  readonly request: Exchange['request'];
}

export function createExchange({ message, era, signal, wire, request }: ExchangeParts): Exchange {
  const params = message.params ?? {};
  const meta = params['_meta'];
  const progressToken = isRecord(meta) ? meta['progressToken'] : undefined;
  const notify: Exchange['notify'] = (method, body) =>
    wire.send({ jsonrpc: '2.0', method, ...(body === undefined ? {} : { params: body }) });
  return {
    method: message.method,
    params,
    id: message.id,
    era,
    signal,
    notify,
    progress(progress, total, text) {
      if (progressToken === undefined) return;
      notify('notifications/progress', {
        progressToken,
        progress,
        ...defined({ total, message: text }),
      });
    },
    request:
      era === 'legacy'
        ? request
        : async (method) => {
            throw new Error(
              `A modern server sends no requests: answer with input_required to ask ${method}.`,
            );
          },
    line: (text) => wire.line(text),
    crash: (exitCode) => wire.crash(exitCode),
  };
}
