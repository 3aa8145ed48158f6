/** A client of any version over a pair of pipes: it answers questions in the way of its era and keeps what it hears. */

import { PassThrough } from 'node:stream';
import type { Host } from '../../src/host/host.ts';
import { type Served, type ServeStdioOptions, serveStdio } from '../../src/serve/index.ts';

type Message = Record<string, unknown>;
export type Answer = (method: string, params: Message) => unknown;

const META = 'io.modelcontextprotocol/';
export const MODERN = '2026-07-28';

export interface LineClientOptions extends ServeStdioOptions {
  readonly clientInfo?: { readonly name: string; readonly version: string };
}

export class LineClient {
  readonly served: Served;
  readonly version: string;
  readonly notifications: Message[] = [];
  readonly #input = new PassThrough();
  readonly #pending = new Map<unknown, (message: Message) => void>();
  readonly #watchers = new Set<() => void>();
  readonly #capabilities: Message;
  readonly #answer: Answer;
  readonly #clientInfo: Message;
  #nextId = 1;

  constructor(
    host: Host,
    version: string,
    capabilities: Message,
    answer: Answer,
    { clientInfo = { name: 'line', version: '1' }, ...options }: LineClientOptions = {},
  ) {
    this.#clientInfo = clientInfo;
    this.version = version;
    this.#capabilities = capabilities;
    this.#answer = answer;
    const output = new PassThrough();
    let rest = '';
    output.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) void this.#received(JSON.parse(line));
    });
    this.served = serveStdio(host, { ...options, input: this.#input, output });
  }

  get isModern(): boolean {
    return this.version === MODERN;
  }

  async open(): Promise<Message> {
    if (this.isModern) return this.request('server/discover');
    const params = {
      protocolVersion: this.version,
      capabilities: this.#capabilities,
      clientInfo: this.#clientInfo,
    };
    const result = await this.request('initialize', params);
    this.#write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return result;
  }

  /** The id that the next request will have: for cancelling it. */
  get nextId(): number {
    return this.#nextId;
  }

  /** The result; a modern client goes as many rounds as it takes. Errors reject with the error object. */
  async request(method: string, params: Message = {}): Promise<Message> {
    let result = await this.#once(method, params);
    while (result['resultType'] === 'input_required') {
      const requests = Object.entries(
        result['inputRequests'] as Record<string, { method: string; params: Message }>,
      );
      const inputResponses = Object.fromEntries(
        await Promise.all(
          requests.map(async ([key, ask]) => [key, await this.#answer(ask.method, ask.params)]),
        ),
      );
      result = await this.#once(method, { ...params, inputResponses, requestState: result['requestState'] });
    }
    return result;
  }

  notify(method: string, params: Message): void {
    this.#write({ jsonrpc: '2.0', method, params });
  }

  /** Begins to listen for changed lists, in the way of the client's era. */
  async listen(): Promise<void> {
    if (!this.isModern) return;
    const notifications = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };
    void this.#once('subscriptions/listen', { notifications }).catch(() => {});
    await this.heard('notifications/subscriptions/acknowledged');
  }

  async heard(method: string): Promise<Message> {
    for (;;) {
      const found = this.notifications.find((message) => message['method'] === method);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  async leave(): Promise<void> {
    this.#input.end();
    await this.served.closed;
  }

  async #once(method: string, params: Message): Promise<Message> {
    const id = this.#nextId++;
    const envelope = {
      [`${META}protocolVersion`]: MODERN,
      [`${META}clientInfo`]: this.#clientInfo,
      [`${META}clientCapabilities`]: this.#capabilities,
      [`${META}logLevel`]: 'info',
      ...(params['_meta'] as Message | undefined),
    };
    const answer = await new Promise<Message>((resolve) => {
      this.#pending.set(id, resolve);
      this.#write({
        jsonrpc: '2.0',
        id,
        method,
        params: this.isModern ? { ...params, _meta: envelope } : params,
      });
    });
    if (answer['error'] !== undefined) throw answer['error'];
    return answer['result'] as Message;
  }

  async #received(message: Message): Promise<void> {
    const { id, method, params } = message;
    if (typeof method !== 'string') {
      this.#pending.get(id)?.(message);
      return;
    }
    if (id === undefined) {
      this.notifications.push(message);
      for (const wake of this.#watchers) wake();
      this.#watchers.clear();
      return;
    }
    try {
      this.#write({ jsonrpc: '2.0', id, result: await this.#answer(method, params as Message) });
    } catch (error) {
      this.#write({ jsonrpc: '2.0', id, error: { code: -32603, message: String(error) } });
    }
  }

  #write(message: Message): void {
    this.#input.write(`${JSON.stringify(message)}\n`);
  }
}
