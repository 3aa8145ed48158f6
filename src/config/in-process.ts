/** In-process servers: which objects can be one, and how an entry with one is shown. */

import type { JsonRpcMessage } from '../lib/json-rpc.ts';

/** The key of an entry with an in-process server; not allowed in files. */
export const IN_PROCESS_KEY = 'inProcess';

/** Shown instead of the object. */
export const IN_THIS_PROCESS = '(in this process)';

/** The server's end of an in-memory connection. */
export interface InProcessChannel {
  open(receiver: InProcessReceiver): Promise<void>;
  send(message: JsonRpcMessage): Promise<void>;
  close(): Promise<void>;
}

interface InProcessReceiver {
  message(message: JsonRpcMessage): void;
  lost(): void;
  notice(): void;
  closed(): void;
}

/** A server of `plugboard/kit`: it can serve many connections at once. */
export interface ChannelServer {
  serve(channel: InProcessChannel): Promise<{ close(): Promise<void> }>;
}

/** An `McpServer` or `Server` of the official SDK, v1 or v2: one object serves one connection at a time. */
export interface ConnectServer {
  connect(transport: never): Promise<unknown>;
  close?(): Promise<unknown>;
}

/** A source of in-memory connections, for example `scriptedServer()` of `plugboard/testing`. */
export interface TransportServer {
  transport(): object;
}

/** A server in this process: of `plugboard/kit`, of the official SDK, or scripted for a test. */
export type InProcessServer = ChannelServer | ConnectServer | TransportServer;

/** Creates a server for each connection; the host closes it with the connection. */
export type InProcessFactory = (server: {
  readonly name: string;
}) => InProcessServer | Promise<InProcessServer>;

/** Returns the method that connects to a server; undefined for objects that are not servers. */
export function connectedBy(server: unknown): 'serve' | 'transport' | 'connect' | undefined {
  if (typeof server !== 'object' || server === null) return undefined;
  const has = (key: string): boolean =>
    key in server && typeof server[key as keyof typeof server] === 'function';
  return (['serve', 'transport', 'connect'] as const).find(has);
}

/** True for an object that refuses a second connection. */
export function servesOneConnection(server: InProcessServer | InProcessFactory): boolean {
  return connectedBy(server) === 'connect';
}

/** True for functions: what one returns is checked when it is called. */
export function isInProcessFactory(value: unknown): value is InProcessFactory {
  return typeof value === 'function';
}

/** True for objects that can be used as in-process servers. */
export function isInProcessServer(value: unknown): value is InProcessServer {
  return connectedBy(value) !== undefined;
}
