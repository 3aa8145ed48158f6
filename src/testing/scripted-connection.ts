/** One client's connection to a scripted server: dispatch, cancellation, subscriptions, requests to the client. */

import { isRecord } from '../lib/json.ts';
import {
  type JsonRpcMessage,
  type JsonRpcRequest,
  type RequestId,
  RPC_INTERNAL_ERROR,
} from '../lib/json-rpc.ts';
import {
  builtIn,
  decorate,
  type Era,
  eraOf,
  type ServerIdentity,
  SUBSCRIPTION_ID,
  unknownMethod,
} from './era.ts';
import { createExchange, type Exchange, type Handler, NO_ANSWER, type Wire } from './exchange.ts';
import { RpcError } from './scripted-tool.ts';

export interface Script {
  readonly identity: ServerIdentity;
  /** Returns the script's handler for the next request of this method, if it has one. */
  handler(method: string): Handler | undefined;
}

interface Question {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class ScriptedConnection {
  readonly #wire: Wire;
  readonly #script: Script;
  readonly #running = new Map<RequestId, AbortController>();
  readonly #questions = new Map<RequestId, Question>();
  readonly #subscriptions = new Map<RequestId, Readonly<Record<string, unknown>>>();
  #era: Era | undefined;
  #asked = 0;

  constructor(wire: Wire, script: Script) {
    this.#wire = wire;
    this.#script = script;
  }

  receive(message: JsonRpcMessage): void {
    if ('method' in message) {
      if ('id' in message) void this.#serve(message);
      else if (message.method === 'notifications/cancelled') this.#cancel(message.params?.['requestId']);
      return;
    }
    const question = message.id === null ? undefined : this.#questions.get(message.id);
    if (!question || message.id === null) return;
    this.#questions.delete(message.id);
    if ('error' in message) {
      question.reject(new RpcError(message.error.code, message.error.message, message.error.data));
    } else question.resolve(message.result);
  }

  /** Sends a notification; modern clients receive list and resource changes only on subscriptions that include them. */
  notify(method: string, params: Readonly<Record<string, unknown>> | undefined): void {
    const wanted = SUBSCRIBED[method];
    if (this.#era !== 'modern' || wanted === undefined) {
      this.#wire.send({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) });
      return;
    }
    for (const [id, filter] of this.#subscriptions) {
      if (!wanted(filter, params)) continue;
      this.#wire.send({ jsonrpc: '2.0', method, params: { ...params, _meta: { [SUBSCRIPTION_ID]: id } } });
    }
  }

  request(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    this.#asked += 1;
    const id = `server-${this.#asked}`;
    return new Promise((resolve, reject) => {
      this.#questions.set(id, { resolve, reject });
      this.#wire.send({ jsonrpc: '2.0', id, method, params });
    });
  }

  line(text: string): void {
    this.#wire.line(text);
  }

  crash(exitCode?: number): void {
    this.#wire.crash(exitCode);
  }

  /** Aborts running requests after the connection has ended, so that they do not send responses. */
  ended(): void {
    for (const controller of this.#running.values()) controller.abort();
    for (const question of this.#questions.values()) question.reject(new Error('The connection has ended.'));
    this.#running.clear();
    this.#questions.clear();
    this.#subscriptions.clear();
  }

  #cancel(id: unknown): void {
    if (typeof id !== 'string' && typeof id !== 'number') return;
    this.#subscriptions.delete(id);
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  async #serve(message: JsonRpcRequest): Promise<void> {
    const { id } = message;
    const controller = new AbortController();
    this.#running.set(id, controller);
    const reply = await this.#answer(message, controller.signal);
    const live = this.#running.get(id) === controller;
    if (live) this.#running.delete(id);
    if (live && reply) this.#wire.send({ jsonrpc: '2.0', id, ...reply });
  }

  async #answer(message: JsonRpcRequest, signal: AbortSignal): Promise<Reply | undefined> {
    const { method } = message;
    const params = message.params ?? {};
    const { identity } = this.#script;
    try {
      const scripted = this.#script.handler(method);
      const era = eraOf(method, params, identity.eras);
      this.#era = era;
      const exchange = createExchange({
        message,
        era,
        signal,
        wire: this.#wire,
        request: (ask, body) => this.request(ask, body),
      });
      // A handler without a return value sends an empty result, as for ping.
      const result = (scripted ? await scripted(exchange) : this.#default(exchange)) ?? {};
      return result === NO_ANSWER ? undefined : { result: decorate(method, result, era, identity) };
    } catch (error) {
      return { error: asRpcError(error) };
    }
  }

  #default(exchange: Exchange): unknown {
    const { method, params, era, id } = exchange;
    if (method === 'subscriptions/listen' && era === 'modern') {
      const filter = isRecord(params['notifications']) ? params['notifications'] : {};
      this.#subscriptions.set(id, filter);
      exchange.notify('notifications/subscriptions/acknowledged', {
        notifications: filter,
        _meta: { [SUBSCRIPTION_ID]: id },
      });
      return NO_ANSWER;
    }
    const result = builtIn(method, params, era, this.#script.identity);
    if (result === undefined) throw unknownMethod(method);
    return result;
  }
}

type Reply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

type Wanted = (
  filter: Readonly<Record<string, unknown>>,
  params: Readonly<Record<string, unknown>> | undefined,
) => boolean;

/** Whether a modern subscription's filter includes a notification. */
const SUBSCRIBED: Readonly<Record<string, Wanted>> = {
  'notifications/tools/list_changed': (filter) => filter['toolsListChanged'] === true,
  'notifications/prompts/list_changed': (filter) => filter['promptsListChanged'] === true,
  'notifications/resources/list_changed': (filter) => filter['resourcesListChanged'] === true,
  'notifications/resources/updated': (filter, params) => {
    const uris = filter['resourceSubscriptions'];
    return Array.isArray(uris) && uris.includes(params?.['uri']);
  },
};

function asRpcError(error: unknown): { code: number; message: string; data?: unknown } {
  if (!(error instanceof RpcError)) {
    return { code: RPC_INTERNAL_ERROR, message: error instanceof Error ? error.message : String(error) };
  }
  const { code, message, data } = error;
  return { code, message, ...(data === undefined ? {} : { data }) };
}
