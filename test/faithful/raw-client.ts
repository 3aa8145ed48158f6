/** A client of the gateway by hand: JSON-RPC over pipes or over HTTP, of either era, that keeps everything it gets. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type ProcessOwner, ProcessSharing } from '../../src/daemon/server/process-sharing.ts';
import { createHost, type Host } from '../../src/host/host.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { serveHttp, serveStdio } from '../../src/serve/index.ts';
import { SERVED_SESSIONS } from '../../src/serve/served-host.ts';
import { PATIENCE_MS } from '../world/until.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export type Message = Record<string, unknown>;
export type Era = 'legacy' | 'modern';
export type Carrier = 'stdio' | 'http';

const META = 'io.modelcontextprotocol/';
const MODERN = '2026-07-28';

export interface RawClientOptions {
  readonly era: Era;
  readonly carrier: Carrier;
  readonly version?: string;
  readonly capabilities?: Message;
  /** Answers what the server asks in the legacy era. */
  readonly answer?: (method: string, params: Message) => unknown;
}

/** A gateway before raw servers, and what was started for it. */
export class RawGateway {
  readonly #closers: (() => unknown)[] = [];
  /** The hosts that were made; the last one is served. */
  readonly hosts: Host[] = [];
  #url = '';

  /**
   * `servers`: by name, a program of this folder and its arguments; `--http` starts it as an HTTP server. `borrowed`: their
   * processes are those of another host, as between sessions of the daemon.
   */
  async open(
    servers: Readonly<Record<string, readonly [program: string, ...args: string[]]>>,
    { borrowed = false }: { readonly borrowed?: boolean } = {},
  ): Promise<this> {
    const home = await mkdtemp(join(tmpdir(), 'plugboard-faithful-'));
    this.#closers.push(() => rm(home, { recursive: true, force: true }));
    const entries = await Promise.all(
      Object.entries(servers).map(async ([name, [program, ...args]]) => {
        const path = fileURLToPath(new URL(program, import.meta.url));
        if (!args.includes('--http'))
          return [name, { command: process.execPath, args: [path, ...args], lifecycle: 'eager' }] as const;
        return [name, { url: await this.#start(path, args), lifecycle: 'eager' }] as const;
      }),
    );
    const loans = new ProcessSharing(systemClock);
    const open = async (): Promise<Host> => {
      const lender: Mutable<ProcessOwner> = { env: process.env, host: undefined, hold: () => () => {} };
      const host = await createHost({
        home,
        cwd: home,
        watch: false,
        manyAgents: true,
        servers: Object.fromEntries(entries),
        sessions: SERVED_SESSIONS,
        borrow: (spec, entry) => loans.borrow(lender, spec, entry),
      });
      lender.host = host;
      this.hosts.push(host);
      this.#closers.push(() => host.close());
      await host.ready();
      return host;
    };
    if (borrowed) await open();
    const host = await open();
    const served = await serveHttp(host, { port: 0 });
    this.#closers.push(() => served.close());
    this.#url = served.url;
    return this;
  }

  get host(): Host {
    const host = this.hosts.at(-1);
    if (host === undefined) throw new Error('open() it first');
    return host;
  }

  async client(options: RawClientOptions): Promise<RawClient> {
    const client = new RawClient(options, this.host, this.#url);
    this.#closers.push(() => client.leave());
    await client.open();
    return client;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }

  async #start(path: string, args: readonly string[]): Promise<string> {
    const server: ChildProcess = spawn(process.execPath, [path, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#closers.push(async () => {
      server.kill();
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    });
    if (server.stdout === null) throw new Error('no stdout');
    const [line] = await once(server.stdout, 'data');
    return String(line).trim();
  }
}

export class RawClient {
  readonly #options: RawClientOptions;
  readonly #host: Host;
  readonly #url: string;
  readonly #input = new PassThrough();
  readonly #pending = new Map<unknown, (message: Message) => void>();
  readonly #watchers = new Set<() => void>();
  readonly #gone = new AbortController();
  /** Every notification, in order. */
  readonly notifications: Message[] = [];
  /** Every request of the gateway, in order. */
  readonly asked: Message[] = [];
  initialized: Message = {};
  #session: string | undefined;
  #nextId = 0;

  constructor(options: RawClientOptions, host: Host, url: string) {
    this.#options = options;
    this.#host = host;
    this.#url = url;
  }

  get isModern(): boolean {
    return this.#options.era === 'modern';
  }

  async open(): Promise<void> {
    const { carrier, version = '2025-11-25', capabilities = {} } = this.#options;
    if (carrier === 'stdio') {
      const output = new PassThrough();
      let rest = '';
      output.setEncoding('utf8').on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) this.#received(JSON.parse(line));
      });
      serveStdio(this.#host, { input: this.#input, output });
    }
    if (this.isModern) {
      this.initialized = await this.request('server/discover');
      return;
    }
    this.initialized = await this.request('initialize', {
      protocolVersion: version,
      capabilities,
      clientInfo: { name: 'raw', version: '1' },
    });
    this.notify('notifications/initialized', {});
    if (carrier === 'http') void this.#stream();
  }

  /** The result; rejects with the error object. */
  async request(method: string, params: Message = {}, meta: Message = {}): Promise<Message> {
    const { error, result } = await this.exchange(method, params, meta);
    if (error !== undefined) throw error;
    return result as Message;
  }

  /** The whole answer. */
  async exchange(method: string, params: Message = {}, meta: Message = {}): Promise<Message> {
    this.#nextId += 1;
    const id = this.#nextId;
    const _meta = { ...(this.isModern ? this.#envelope() : {}), ...meta };
    const message = {
      jsonrpc: '2.0',
      id,
      method,
      params: Object.keys(_meta).length === 0 ? params : { ...params, _meta },
    };
    const answer = new Promise<Message>((resolve) => this.#pending.set(id, resolve));
    this.#send(message).catch(() => this.#gone.signal.aborted);
    return answer;
  }

  notify(method: string, params: Message): void {
    void this.#send({ jsonrpc: '2.0', method, params });
  }

  /** A notification of this method that fits, as soon as there is one. */
  async heard(method: string, fits: (params: Message) => boolean = () => true): Promise<Message> {
    for (const until = Date.now() + PATIENCE_MS; ; ) {
      const found = this.notifications.find(
        (message) => message['method'] === method && fits(message['params'] as Message),
      );
      if (found !== undefined) return found['params'] as Message;
      if (Date.now() > until)
        throw new Error(`${method} did not come: ${JSON.stringify(this.notifications)}`);
      await new Promise<void>((resolve) => {
        this.#watchers.add(resolve);
        setTimeout(resolve, 250).unref();
      });
    }
  }

  paramsOf(method: string): Message[] {
    return this.notifications.flatMap((one) => (one['method'] === method ? [one['params'] as Message] : []));
  }

  leave(): void {
    this.#gone.abort();
    this.#input.end();
  }

  #envelope(): Message {
    return {
      [`${META}protocolVersion`]: MODERN,
      [`${META}clientInfo`]: { name: 'raw', version: '1' },
      [`${META}clientCapabilities`]: this.#options.capabilities ?? {},
    };
  }

  async #send(message: Message): Promise<void> {
    if (this.#options.carrier === 'stdio') {
      this.#input.write(`${JSON.stringify(message)}\n`);
      return;
    }
    const params = (message['params'] ?? {}) as Message;
    const name = params['name'] ?? params['uri'] ?? params['taskId'];
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...this.#headers(),
        ...(this.isModern ? { 'mcp-method': String(message['method']) } : {}),
        ...(this.isModern && typeof name === 'string' ? { 'mcp-name': name } : {}),
      },
      body: JSON.stringify(message),
      signal: this.#gone.signal,
    });
    this.#session ??= response.headers.get('mcp-session-id') ?? undefined;
    await this.#read(response);
  }

  #headers(): Record<string, string> {
    if (this.isModern) return { 'mcp-protocol-version': MODERN };
    if (this.#session === undefined) return {};
    const { version = '2025-11-25' } = this.#options;
    return { 'mcp-session-id': this.#session, 'mcp-protocol-version': version };
  }

  /** Messages that belong to no request of a legacy client. */
  async #stream(): Promise<void> {
    const headers = { accept: 'text/event-stream', ...this.#headers() };
    await this.#read(await fetch(this.#url, { headers, signal: this.#gone.signal })).catch(() => {});
  }

  async #read(response: Response): Promise<void> {
    if (response.headers.get('content-type')?.includes('text/event-stream') !== true) {
      const body = await response.text();
      if (body !== '') this.#received(JSON.parse(body));
      return;
    }
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks)
        for (const line of block.split('\n'))
          if (line.startsWith('data: ')) this.#received(JSON.parse(line.slice('data: '.length)));
    }
  }

  #received(message: Message): void {
    const { id, method, params } = message;
    if (typeof method !== 'string') {
      this.#pending.get(id)?.(message);
      this.#pending.delete(id);
    } else if (id === undefined) {
      this.notifications.push(message);
    } else {
      this.asked.push(message);
      const answer = this.#options.answer?.(method, (params ?? {}) as Message) ?? { action: 'cancel' };
      void this.#send({ jsonrpc: '2.0', id, result: answer });
    }
    for (const wake of this.#watchers) wake();
    this.#watchers.clear();
  }
}
