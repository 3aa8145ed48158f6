/**
 * The whole contract between a connection and the way its bytes travel.
 *
 * A transport is opened once, with one receiver, and never reused: a reconnect makes a new one.
 */

import type { PlugboardError } from '../errors.ts';
import type { JsonRpcMessage, RequestId } from '../lib/json-rpc.ts';

/** Where a transport delivers what happens to it. One owner, given at `open`. */
export interface Receiver {
  /** One frame. Its envelope is an object; everything inside is still unchecked. */
  message(message: JsonRpcMessage): void;
  /**
   * The answer to this request can no longer come (its stream ended, its line was over the cap);
   * the connection lives on. Without an id it is not known whose answer was lost.
   */
  lost(id: RequestId | undefined, error: PlugboardError): void;
  /** Exactly once, after everything else: ended by `close()` (no error) or by itself (with one). */
  closed(error?: PlugboardError): void;
  /** Worth a line in the log: noise on stdout, a dropped frame, a line of stderr. */
  notice(notice: Notice): void;
}

export interface Notice {
  readonly level: 'debug' | 'info' | 'warning';
  readonly message: string;
}

export interface SendOptions {
  /** Ends the wait, and where a request has a socket of its own, that socket. */
  readonly signal?: AbortSignal | undefined;
  /** More headers for this one request; transports without headers ignore them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface Transport {
  readonly kind: 'stdio' | 'http' | 'sse' | 'memory';
  /** True where each request has a stream of its own, whose end is the way to cancel it. */
  readonly streamPerRequest: boolean;
  /** Process id of the server, where there is one. */
  readonly pid: number | undefined;
  /** Spawns the process or opens the stream; rejects with a PlugboardError and leaves nothing behind. */
  open(receiver: Receiver, signal?: AbortSignal): Promise<void>;
  /**
   * Hands one message over; answers arrive at the receiver. Rejects with a PlugboardError when it could
   * not be delivered; `detail.notSent` says that repeating it is safe.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void>;
  /** Cleaned tail of what the server's process wrote to stderr, where there is a process. */
  stderr?(): string;
  /** Cleaned lines of stdout that are not messages, if a process wrote some: the first that says where it listens, else the last. */
  noise?(): string | undefined;
  /** Told after negotiation; decides headers and cancellation on HTTP. */
  negotiated(protocolVersion: string): void;
  /** Ends everything this transport started. May be called twice; never rejects. */
  close(): Promise<void>;
}
