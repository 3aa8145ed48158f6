/**
 * The interface between a connection and its transport.
 *
 * A transport is opened once, with one receiver, and never reused: a reconnect creates a new one.
 */

import type { TransportKind } from '../config/transport-kinds.ts';
import type { PlugboardError } from '../errors.ts';
import type { JsonRpcMessage, RequestId } from '../lib/json-rpc.ts';

/** Receives the events of a transport. One owner, given at `open`. */
export interface Receiver {
  /** One frame. Its envelope is an object; its members are not validated yet. */
  message(message: JsonRpcMessage): void;
  /**
   * The response to this request can no longer arrive (its stream ended, or its line exceeded the limit); the
   * connection stays open. Without an id, the request is unknown.
   */
  lost(id: RequestId | undefined, error: PlugboardError): void;
  /** Called exactly once, after all other events: without an error after `close()`, with one otherwise. */
  closed(error?: PlugboardError): void;
  /** A message for the log: unexpected output on stdout, a dropped frame, a line of stderr. */
  notice(notice: Notice): void;
}

/** Something that a transport reports and that does not end it. */
export interface Notice {
  readonly level: 'debug' | 'info' | 'warning';
  readonly message: string;
}

/** Options of sending one message. */
export interface SendOptions {
  /** Ends the wait, and the socket if the request has its own. */
  readonly signal?: AbortSignal | undefined;
  /** Additional headers for this request; transports without headers ignore them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** No other request is pending, so that waiting for more messages to send together would only take time. */
  readonly isAlone?: boolean | undefined;
}

/** The promise of a message that was delivered at once: its sender needs no handler for a failure. */
export const SENT: Promise<void> = Promise.resolve();

/** The contract of every transport. */
export interface Transport {
  readonly kind: TransportKind;
  /** True if each request has its own stream, which is closed to cancel the request. */
  readonly streamPerRequest: boolean;
  /** Process id of the server, if it has a process. */
  readonly pid: number | undefined;
  /** Spawns the process ahead of `open`, which then reads its output; resolves when the process was created. */
  start?(): Promise<void>;
  /** Time since `start`; undefined if it was not called. */
  readonly aheadMs?: number | undefined;
  /** Spawns the process or opens the stream; rejects with a PlugboardError and releases everything it opened. */
  open(receiver: Receiver, signal?: AbortSignal): Promise<void>;
  /**
   * Sends one message; responses arrive at the receiver. Rejects with a PlugboardError if it could not be delivered;
   * `detail.notSent` means that repeating it is safe.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void>;
  /** Like `send`, for a message that is serialized already. Transports that read members of messages do not have it. */
  sendText?(message: string, options?: SendOptions): Promise<void>;
  /** Cleaned tail of the process's stderr, if there is a process. */
  stderr?(): string;
  /** A cleaned line of stdout that is not a message: the first one with a listening address, else the last one. */
  noise?(): string | undefined;
  /** Called after negotiation; determines headers and cancellation on HTTP. */
  negotiated(protocolVersion: string): void;
  /** Ends everything that this transport started. May be called twice; never rejects. */
  close(): Promise<void>;
}
