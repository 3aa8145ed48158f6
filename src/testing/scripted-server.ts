/** A server scripted by a test, for both eras, in memory or as a stdio program. */

import { createInterface } from 'node:readline';
import { PlugboardError } from '../errors.ts';
import { isRecord, parseJson } from '../lib/json.ts';
import { type JsonRpcMessage, RPC_PARSE_ERROR } from '../lib/json-rpc.ts';
import type { Transport } from '../transport/contract.ts';
import { memoryPair } from '../transport/memory-transport.ts';
import type { ServerIdentity } from './era.ts';
import type { Handler, Wire } from './exchange.ts';
import { ScriptedConnection } from './scripted-connection.ts';
import {
  callTool,
  listTools,
  type ScriptedTool,
  type ScriptedTools,
  type ToolHandler,
} from './scripted-tool.ts';

/** Options of `scriptedServer`. */
export interface ScriptedServerOptions {
  readonly name?: string;
  readonly version?: string;
  readonly instructions?: string;
  /** Default: `tools` with `listChanged`. */
  readonly capabilities?: Readonly<Record<string, unknown>>;
  /** Eras that the server supports; default: both. */
  readonly eras?: ServerIdentity['eras'];
  readonly tools?: ScriptedTools;
}

type Params = Readonly<Record<string, unknown>>;

/** A server whose answers a test decides. */
export interface ScriptedServer {
  /** Creates an in-memory connection; returns the client's end, which is not open yet. */
  transport(): Transport;
  /** Serves this process's stdin and stdout; resolves at the end of input. */
  stdio(): Promise<void>;
  /** Sets the handler of a method, replacing the built-in one if there is one. */
  on(method: string, handler: Handler): ScriptedServer;
  /** Handles only the next request of a method; several handlers are queued. */
  once(method: string, handler: Handler): ScriptedServer;
  /** Adds or replaces a tool without notifying clients; use `notify` for that. */
  tool(name: string, tool: ToolHandler | ScriptedTool): ScriptedServer;
  /** Removes a tool. */
  removeTool(name: string): ScriptedServer;
  /** Notifies every client; modern ones receive list changes on subscriptions that include them. */
  notify(method: string, params?: Params): void;
  /** Sends a request to the newest client and waits for its result. */
  request(method: string, params?: Params): Promise<unknown>;
  /** Writes text to every client unchanged. */
  line(text: string): void;
  /** Ends every connection as if the process had crashed. */
  crash(exitCode?: number): void;
  /** All messages received so far, in order. */
  readonly received: readonly JsonRpcMessage[];
  /** Resolves with all messages of this method once there are `count` of them. */
  seen(method: string, count?: number): Promise<readonly JsonRpcMessage[]>;
  /** Number of open connections. */
  readonly connections: number;
}

/**
 * Creates a server that a test scripts.
 *
 * @param options - Tools, era and capabilities.
 * @returns The server, for `{ inProcess: server }`.
 * @example
 * const server = scriptedServer({ tools: { greet: ({ who }) => `Hello ${who}` } });
 * server.once('tools/list', ({ crash }) => crash()); // the first listing ends the server, the next one is answered
 * const transport = server.transport();
 * transport.kind; // → 'memory'
 * server.connections; // → 1
 */
export function scriptedServer(options: ScriptedServerOptions = {}): ScriptedServer {
  return new Scripted(options);
}

class Scripted implements ScriptedServer {
  readonly identity: ServerIdentity;
  readonly #received: JsonRpcMessage[] = [];
  readonly #connections = new Set<ScriptedConnection>();
  readonly #watchers = new Set<() => void>();
  readonly #handlers = new Map<string, Handler>();
  readonly #next = new Map<string, Handler[]>();
  #tools: ScriptedTools;

  constructor(options: ScriptedServerOptions) {
    this.#tools = options.tools ?? {};
    this.identity = {
      name: options.name ?? 'scripted',
      version: options.version ?? '1.0.0',
      instructions: options.instructions,
      capabilities: options.capabilities ?? { tools: { listChanged: true } },
      eras: options.eras ?? 'both',
    };
    this.#handlers.set('tools/list', () => listTools(this.#tools));
    this.#handlers.set('tools/call', (exchange) => callTool(this.#tools, exchange));
  }

  transport(): Transport {
    const [client, server] = memoryPair();
    const connection = this.#connect({
      send: (message) => server.line(JSON.stringify(message)),
      line: (text) => server.line(text),
      crash: (exitCode = 1) =>
        server.crash(
          new PlugboardError('CONNECTION_LOST', `The server ended with exit code ${exitCode}`, {
            detail: { exitCode },
          }),
        ),
    });
    // Opened immediately: opening an in-memory end once cannot fail.
    void server.open({
      message: (message) => this.#receive(connection, message),
      lost: () => undefined,
      notice: () => undefined,
      closed: () => this.#disconnect(connection),
    });
    return client;
  }

  async stdio(): Promise<void> {
    let connection: ScriptedConnection | undefined;
    await serveOnStdio((wire) => {
      const opened = this.#connect(wire);
      connection = opened;
      return (message) => this.#receive(opened, message);
    });
    if (connection) this.#disconnect(connection);
  }

  on(method: string, handler: Handler): ScriptedServer {
    this.#handlers.set(method, handler);
    return this;
  }

  once(method: string, handler: Handler): ScriptedServer {
    this.#next.set(method, [...(this.#next.get(method) ?? []), handler]);
    return this;
  }

  tool(name: string, tool: ToolHandler | ScriptedTool): ScriptedServer {
    this.#tools = { ...this.#tools, [name]: tool };
    return this;
  }

  /** Removes a tool. */
  removeTool(name: string): ScriptedServer {
    const { [name]: _, ...rest } = this.#tools;
    this.#tools = rest;
    return this;
  }

  handler(method: string): Handler | undefined {
    return this.#next.get(method)?.shift() ?? this.#handlers.get(method);
  }

  notify(method: string, params?: Params): void {
    for (const connection of this.#connections) connection.notify(method, params);
  }

  async request(method: string, params?: Params): Promise<unknown> {
    const newest = [...this.#connections].at(-1);
    if (!newest) throw new Error(`No client is connected that could answer ${method}`);
    return newest.request(method, params);
  }

  line(text: string): void {
    for (const connection of this.#connections) connection.line(text);
  }

  crash(exitCode?: number): void {
    for (const connection of [...this.#connections]) connection.crash(exitCode);
  }

  get received(): readonly JsonRpcMessage[] {
    return this.#received;
  }

  get connections(): number {
    return this.#connections.size;
  }

  async seen(method: string, count = 1): Promise<readonly JsonRpcMessage[]> {
    for (;;) {
      const matching = this.#received.filter((message) => 'method' in message && message.method === method);
      if (matching.length >= count) return matching;
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  #connect(wire: Wire): ScriptedConnection {
    const connection = new ScriptedConnection(wire, this);
    this.#connections.add(connection);
    return connection;
  }

  #disconnect(connection: ScriptedConnection): void {
    this.#connections.delete(connection);
    connection.ended();
  }

  #receive(connection: ScriptedConnection, message: JsonRpcMessage): void {
    this.#received.push(message);
    connection.receive(message);
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    for (const wake of watchers) wake();
  }
}

const CRASH_EXIT_CODE = 1;

/** Resolves at the end of input; responses in progress may still follow. */
async function serveOnStdio(connect: (wire: Wire) => (message: JsonRpcMessage) => void): Promise<void> {
  // A disconnected client must not cause a stack trace.
  process.stdout.on('error', () => undefined);
  let crashed = false;
  const line = (text: string): void => {
    if (!crashed) process.stdout.write(`${text}\n`);
  };
  const send = (message: JsonRpcMessage): void => line(JSON.stringify(message));
  const receive = connect({
    send,
    line,
    // Exits after pending output is written, so that a crash after a response does not lose the response.
    crash(exitCode = CRASH_EXIT_CODE) {
      crashed = true;
      process.stdout.write('', () => process.exit(exitCode));
    },
  });
  for await (const text of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (text.trim() === '') continue;
    const message = parseJson(text);
    // Only checks that the envelope is an object; the script handles its contents.
    if (isRecord(message)) receive(message as unknown as JsonRpcMessage);
    else send({ jsonrpc: '2.0', id: null, error: { code: RPC_PARSE_ERROR, message: 'Parse error' } });
  }
}
