/** Connections to servers that are objects of this program: of the kit, of the official SDK, or made by a function. */

import {
  type ChannelServer,
  type ConnectServer,
  type InProcessFactory,
  type InProcessServer,
  isInProcessServer,
  joinedBy,
  type TransportServer,
} from '../config/in-process.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import type { Receiver, SendOptions, Transport } from './contract.ts';
import { type MemoryTransport, memoryPair } from './memory.ts';

type Close = () => Promise<unknown>;

/** `name`: what the entry is called. The server is made or joined when the transport is opened. */
export function createInProcessTransport(
  name: string,
  source: InProcessServer | InProcessFactory,
): Transport {
  return new InProcessTransport(name, source);
}

class InProcessTransport implements Transport {
  readonly kind = 'memory';
  readonly streamPerRequest = false;
  readonly pid = undefined;
  readonly #name: string;
  readonly #source: InProcessServer | InProcessFactory;
  #client: Transport | undefined;
  #closed: Promise<void> | undefined;
  readonly #ends: Close[] = [];

  constructor(name: string, source: InProcessServer | InProcessFactory) {
    this.#name = name;
    this.#source = source;
  }

  async open(receiver: Receiver, signal?: AbortSignal): Promise<void> {
    try {
      const server = await this.#server();
      this.#client = await this.#join(server);
    } catch (thrown) {
      throw this.#failed(thrown);
    }
    await this.#client.open(receiver, signal);
    // Closed while the server was being made.
    if (this.#closed !== undefined) await this.#end();
  }

  async send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    if (this.#client === undefined) {
      throw new PlugboardError('CONNECTION_LOST', 'The connection is not open.', {
        detail: { notSent: true },
      });
    }
    return this.#client.send(message, options);
  }

  negotiated(protocolVersion: string): void {
    this.#client?.negotiated(protocolVersion);
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #server(): Promise<InProcessServer> {
    if (typeof this.#source !== 'function') return this.#source;
    const made = await this.#source({ name: this.#name });
    if (!isInProcessServer(made)) throw new Error('its function returned something that is not a server');
    // It was made for this connection alone.
    const { close } = made as { close?: unknown };
    if (typeof close === 'function') this.#ends.push(async () => close.call(made));
    return made;
  }

  async #join(server: InProcessServer): Promise<Transport> {
    const way = joinedBy(server);
    // What is returned is checked by its first use: an author's own transport.
    if (way === 'transport') return (server as TransportServer).transport() as Transport;
    const [client, far] = memoryPair();
    if (way === 'serve') {
      const served = await (server as ChannelServer).serve(far);
      this.#ends.unshift(() => served.close());
      return client;
    }
    if (isConnected(server)) {
      throw new PlugboardError(
        'START_FAILED',
        `${this.#name} serves another connection, and an SDK server serves one at a time`,
        {
          hint: 'Give a function that makes a server for each connection: inProcess: () => makeServer().',
          detail: { permanent: true },
        },
      );
    }
    await (server as ConnectServer).connect(new SdkTransport(far) as never);
    this.#ends.unshift(() => far.close());
    return client;
  }

  async #end(): Promise<void> {
    await this.#client?.close();
    // A server that cannot end in order is as gone as one that can.
    for (const end of this.#ends.splice(0)) await end().catch(() => {});
  }

  #failed(thrown: unknown): PlugboardError {
    if (thrown instanceof PlugboardError) return thrown;
    const { message } = asPlugboardError(thrown, 'START_FAILED');
    return new PlugboardError('START_FAILED', `${this.#name} did not start in this process: ${message}`, {
      cause: thrown,
    });
  }
}

/** The official SDK's own check (`McpServer.isConnected()`, `Server.transport`), where it has one. */
function isConnected(server: object): boolean {
  const { isConnected: check, transport, server: inner } = server as Record<string, unknown>;
  if (typeof check === 'function') return check.call(server) === true;
  const low = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : undefined;
  return (transport ?? low?.['transport']) !== undefined;
}

/** One end of a pair in the shape of the official SDK's transports. */
class SdkTransport {
  readonly #end: MemoryTransport;
  onmessage: ((message: JsonRpcMessage) => void) | undefined;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  sessionId: string | undefined;

  constructor(end: MemoryTransport) {
    this.#end = end;
  }

  start(): Promise<void> {
    return this.#end.open({
      message: (message) => this.onmessage?.(message),
      lost: () => {},
      notice: ({ message }) => this.onerror?.(new Error(message)),
      closed: () => this.onclose?.(),
    });
  }

  send(message: JsonRpcMessage): Promise<void> {
    return this.#end.send(message);
  }

  close(): Promise<void> {
    return this.#end.close();
  }
}
