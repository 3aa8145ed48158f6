/** What one row of the table of routes is: enough to answer a request, and to write the OpenAPI document. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Schema, SchemaName } from './schemas.ts';

/** A request after everything about it was checked. */
export interface ApiRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Fits the row's schema. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Aborted when the client has gone away. */
  readonly signal: AbortSignal;
}

interface RouteBase {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `/api/servers/{name}` */
  readonly path: string;
  /** The name of the operation in generated clients. */
  readonly operation: string;
  readonly summary: string;
  readonly query?: Readonly<Record<string, Schema & { readonly description: string }>>;
  readonly body?: SchemaName;
  /** Statuses of failures that this route has beside those that all have. */
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
