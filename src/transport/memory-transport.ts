/** A transport pair within one process: for tests, and for servers that are part of the program. */

import { PlugboardError } from '../errors.ts';
import { isRecord, parseJson } from '../lib/json.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import type { Receiver, SendOptions, Transport } from './contract.ts';

/** Events that one end may send before the other is opened, or within one turn of the event loop. */
const MAX_QUEUED_EVENTS = 100_000;

const MAX_NOTICE_CHARS = 200;

/** One end of a pair. Frames are sent as text, so the ends never share an object, as over a pipe. */
export interface MemoryTransport extends Transport {
  readonly kind: 'memory';
  /** Sends one line unchanged; the other end parses it like a line from a pipe. */
  line(text: string): void;
  /** Ends the connection like a crash: both ends are closed with this error. */
  crash(error?: PlugboardError): void;
}

type InboxEvent =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'closed'; readonly error: PlugboardError };

/**
 * Creates two connected transports. Order is preserved, delivery is asynchronous, and messages sent before an end
 * closed still arrive.
 *
 * @returns Both ends.
 * @example
 * const [client, server] = memoryPair();
 * const methods = [];
 * const ignore = () => {};
 * await client.open({ message: ignore, lost: ignore, closed: ignore, notice: ignore });
 * await client.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
 * await server.open({ message: ({ method }) => methods.push(method), lost: ignore, closed: ignore, notice: ignore });
 * await client.close();
 * methods; // → ['ping']
 */
export function memoryPair(): readonly [client: MemoryTransport, server: MemoryTransport] {
  const client = new MemoryEnd();
  const server = new MemoryEnd();
  client.join(server);
  server.join(client);
  return [client, server];
}

class MemoryEnd implements MemoryTransport {
  readonly kind = 'memory';
  readonly streamPerRequest = false;
  readonly pid = undefined;
  #far: MemoryEnd | undefined;
  #state: 'new' | 'open' | 'closed' = 'new';
  #receiver: Receiver | undefined;
  #inbox: InboxEvent[] = [];
  #draining = false;

  join(far: MemoryEnd): void {
    this.#far = far;
  }

  async open(receiver: Receiver, signal?: AbortSignal): Promise<void> {
    if (this.#state === 'closed') throw notSent('The in-memory connection is already closed');
    if (this.#receiver) throw new PlugboardError('INTERNAL', 'An in-memory transport was opened twice');
    if (signal?.aborted) throw cancelled();
    this.#receiver = receiver;
    this.#state = 'open';
    this.#wake();
  }

  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    if (this.#state !== 'open') throw notSent('The in-memory connection is not open');
    if (options.signal?.aborted) throw cancelled();
    if (!this.#far?.push({ kind: 'line', text: JSON.stringify(message) })) {
      throw new PlugboardError('LIMIT_EXCEEDED', 'The other end of the in-memory connection does not read', {
        detail: { notSent: true },
      });
    }
  }

  line(text: string): void {
    if (this.#state !== 'closed') this.#far?.push({ kind: 'line', text });
  }

  crash(error: PlugboardError = lost('The server ended without warning')): void {
    this.#end(error, error);
  }

  negotiated(): void {
    // Frames do not depend on the protocol version.
  }

  async close(): Promise<void> {
    this.#end(undefined, lost('The other end closed the connection'));
  }

  /** Returns false if the inbox is full. */
  push(event: InboxEvent): boolean {
    if (this.#state === 'closed') return true; // like a closed pipe: the data is lost without an error
    if (event.kind === 'line' && this.#inbox.length >= MAX_QUEUED_EVENTS) return false;
    this.#inbox.push(event);
    this.#wake();
    return true;
  }

  #end(own: PlugboardError | undefined, theirs: PlugboardError): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#inbox = [];
    this.#far?.push({ kind: 'closed', error: theirs });
    this.#receiver?.closed(own);
  }

  #wake(): void {
    if (this.#draining || this.#state !== 'open') return;
    this.#draining = true;
    queueMicrotask(() => this.#drain());
  }

  #drain(): void {
    this.#draining = false;
    const events = this.#inbox;
    this.#inbox = [];
    for (const event of events) {
      if (this.#state !== 'open') return; // its owner closed it during delivery
      if (event.kind === 'closed') {
        this.#state = 'closed';
        this.#receiver?.closed(event.error);
        return;
      }
      this.#deliver(event.text);
    }
  }

  #deliver(text: string): void {
    const frame = parseJson(text);
    // The contract promises an object whose members are not validated, hence the cast.
    if (isRecord(frame)) this.#receiver?.message(frame as unknown as JsonRpcMessage);
    else
      this.#receiver?.notice({
        level: 'warning',
        message: `Ignored a line that is not JSON-RPC: ${text.slice(0, MAX_NOTICE_CHARS)}`,
      });
  }
}

/** Without `notSent`: a pending request may have been processed. */
function lost(message: string): PlugboardError {
  return new PlugboardError('CONNECTION_LOST', message);
}

function notSent(message: string): PlugboardError {
  return new PlugboardError('CONNECTION_LOST', message, { detail: { notSent: true } });
}

function cancelled(): PlugboardError {
  return new PlugboardError('CANCELLED', 'The request was cancelled before it was sent', {
    detail: { notSent: true },
  });
}
