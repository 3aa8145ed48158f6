/** The interfaces between an endpoint and the other processes that serve the same clients. */

import type { IncomingHttpHeaders } from 'node:http';
import type { SessionStore } from './session-records.ts';

/** The part of an HTTP request that the endpoint reads; the body is read before. */
export interface McpRequest {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** The part of an HTTP response that the endpoint writes. */
export interface McpResponse {
  readonly writableLength: number;
  setHeader(name: string, value: string): unknown;
  writeHead(status: number, headers?: Readonly<Record<string, string | number>>): McpResponse;
  flushHeaders(): void;
  write(text: string): unknown;
  end(text?: string): unknown;
  destroy(): unknown;
  on(event: 'close', listener: () => void): unknown;
}

/** Another process that can be reached. */
export interface Peer {
  readonly id: string;
  /** `host:port` of its inner listener. */
  readonly address: string;
}

/** `unknown`: the handle is forged, expired, or belongs to another holder. */
export type Place = Peer | 'here' | 'unknown';

/** A request of a client, as it is sent to the process that has its session. */
export interface ForwardedRequest extends McpRequest {
  readonly principal: string;
  readonly body: Uint8Array;
}

/** Receives the response of a forwarded request; `unsent` and `lost` end it, at most one of them is called. */
export interface ForwardReceiver {
  head(status: number, headers: Readonly<Record<string, string | number>>): void;
  data(bytes: Uint8Array): void;
  end(): void;
  /** The peer did not begin to handle the request. */
  unsent(): void;
  /** The connection ended after the request was sent. */
  lost(): void;
}

/** Handles a forwarded request; false if another process has its session now: nothing was done. */
export type ForwardHandler = (request: ForwardedRequest, response: McpResponse) => boolean | Promise<boolean>;

/** What a handle identifies; a handle of one kind is not valid as another. */
export type HandleKind = 'session' | 'state' | 'task' | 'output';

export interface ReplicaState {
  /** The number of processes, with this one. */
  readonly replicas: number;
  /** Whether the shared state can be reached. */
  readonly isRedisUp: boolean;
  /** Requests that were sent to other processes. */
  readonly forwarded: number;
  /** Sessions that were continued after their process ended. */
  readonly taken: number;
  /** Other processes whose configuration files have another content. */
  readonly differing: number;
  /** Whether this process gives its sessions up and ends. */
  readonly isDraining: boolean;
}

/** The processes that serve the same clients. */
export interface Replicas {
  readonly state: ReplicaState;
  /** Storage of session records; a record is readable by the process that owns the session. */
  readonly store: SessionStore;
  /** Returns an unguessable text that names this process, sealed for one holder. */
  issue(kind: HandleKind, holder: string): string;
  /** Returns the process that a handle names. */
  placeOf(kind: HandleKind, handle: string, holder: string): Place;
  /**
   * Finds the current owner of a session whose process could not be reached. If that process has ended, this one
   * becomes the owner. `unreachable`: the owner is alive, and does not answer this process.
   */
  locate(session: string, holder: string): Promise<Place | 'unreachable'>;
  /** Sends a request to another process; the returned function cancels it. */
  send(peer: Peer, request: ForwardedRequest, receiver: ForwardReceiver): () => void;
  /** Accepts the requests of other processes. */
  accept(handler: ForwardHandler): void;
  /** Calls back when the records of local sessions have to be written again. */
  onLapsed(listener: () => void): void;
  /** Another process that can continue a session; undefined if there is none. */
  other(): Peer | undefined;
  /** From now on, this process continues no session of others, and gives up its own one by one. */
  drain(): void;
  /** Gives up the sessions of this process, so that others can continue them. */
  leave(): Promise<void>;
}
