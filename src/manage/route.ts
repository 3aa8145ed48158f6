/** The type of one row of the route table: enough to handle a request, and to generate the OpenAPI document. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Schema, SchemaName } from './api-schemas.ts';

/** A validated request. */
export interface ApiRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Valid against the route's schema. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

interface RouteBase {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `/api/servers/{name}` */
  readonly path: string;
  /** The operation's name in generated clients. */
  readonly operation: string;
  readonly summary: string;
  readonly query?: Readonly<Record<string, Schema & { readonly description: string }>>;
  readonly body?: SchemaName;
  /** Error statuses of this route, in addition to the common ones. */
  readonly fails?: readonly number[];
}

export interface JsonRoute extends RouteBase {
  readonly status?: 200 | 201;
  readonly answer: Schema;
  readonly handle: (request: ApiRequest) => unknown;
}

export interface StreamRoute extends RouteBase {
  readonly stream: (request: IncomingMessage, response: ServerResponse) => void;
}

export type Route = JsonRoute | StreamRoute;
