/** A transport to a server in this process: of the kit, of the official SDK, or created by a function. */

import {
  type ChannelServer,
  type ConnectServer,
  connectedBy,
  type InProcessFactory,
  type InProcessServer,
  isInProcessServer,
  type TransportServer,
} from '../config/in-process.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { holdProcess } from '../lib/hold-process.ts';
import { isRecord } from '../lib/json.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import type { Receiver, SendOptions, Transport } from './contract.ts';
import { type MemoryTransport, memoryPair } from './memory-transport.ts';

type Close = () => Promise<unknown>;

/** `name`: the name of the entry. The server is created or connected when the transport is opened. */
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
  readonly #awaited = new Awaited();

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
    await this.#client.open(this.#awaited.until(receiver), signal);
    // Closed while the server was being created.
    if (this.#closed !== undefined) await this.#end();
  }

  async send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    if (this.#client === undefined) {
      throw new PlugboardError('CONNECTION_LOST', 'The connection is not open', {
        detail: { notSent: true },
      });
    }
    this.#awaited.sent(message);
    return this.#client.send(message, options);
  }

  negotiated(protocolVersion: string): void {
    this.#client?.negotiated(protocolVersion);
  }

  close(): Promise<void> {
    this.#closed ??= this.#awaited.during(this.#end());
    return this.#closed;
  }

  async #server(): Promise<InProcessServer> {
    if (typeof this.#source !== 'function') return this.#source;
    const made = await this.#source({ name: this.#name });
    if (!isInProcessServer(made)) throw new Error('its function returned something that is not a server');
    // Created for this connection only, so it is closed with it.
    const { close } = made as { close?: unknown };
    if (typeof close === 'function') this.#ends.push(async () => close.call(made));
    return made;
  }

  async #join(server: InProcessServer): Promise<Transport> {
    const way = connectedBy(server);
    // A custom transport; its first use checks it.
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
    // A server that fails to close is treated as closed.
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

/**
 * Keeps the program alive while it waits for an answer or for the end of a server: there is no socket or pipe that would,
 * and the host's own timers do not.
 */
class Awaited {
  readonly #requests = new Set<unknown>();
  #release: (() => void) | undefined;

  sent(message: JsonRpcMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) this.#requests.add(message.id);
    else if (message.method === 'notifications/cancelled')
      this.#requests.delete(isRecord(message.params) ? message.params['requestId'] : undefined);
    this.#update();
  }

  /** The same receiver; answers that reach it are awaited no longer. */
  until(receiver: Receiver): Receiver {
    return {
      message: (message) => {
        if (!('method' in message) && this.#requests.delete(message.id)) this.#update();
        receiver.message(message);
      },
      lost: (id, error) => {
        this.#requests.delete(id);
        this.#update();
        receiver.lost(id, error);
      },
      closed: (error) => {
        this.#requests.clear();
        this.#update();
        receiver.closed(error);
      },
      notice: (notice) => receiver.notice(notice),
    };
  }

  async during(work: Promise<void>): Promise<void> {
    this.#requests.add(work);
    this.#update();
    await work;
    this.#requests.delete(work);
    this.#update();
  }

  #update(): void {
    if (this.#requests.size > 0) this.#release ??= holdProcess();
    else {
      this.#release?.();
      this.#release = undefined;
    }
  }
}

/** The official SDK's own check (`McpServer.isConnected()`, `Server.transport`), if it has one. */
function isConnected(server: object): boolean {
  const { isConnected: check, transport, server: inner } = server as Record<string, unknown>;
  if (typeof check === 'function') return check.call(server) === true;
  const low = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : undefined;
  return (transport ?? low?.['transport']) !== undefined;
}

/** Adapts one end of a memory pair to the official SDK's transport interface. */
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
