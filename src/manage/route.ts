/** The type of one row of the route table, and the conversion of errors to HTTP responses. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorCode, PlugboardError } from '../errors.ts';
import type { Schema, SchemaName } from './api-schemas.ts';

/** The HTTP status of each code; the body has the shape of `--json`. */
const STATUS: Readonly<Record<ErrorCode, number>> = {
  USAGE: 400,
  CONFIG_INVALID: 400,
  INVALID_ARGUMENTS: 400,
  // The parameters that came back through the browser do not match a pending login.
  AUTH_FAILED: 400,
  BLOCKED_BY_POLICY: 403,
  UNTRUSTED: 403,
  APPROVAL_REQUIRED: 403,
  DENIED: 403,
  PIN_CHANGED: 403,
  LOCK_MISMATCH: 403,
  EGRESS_REFUSED: 403,
  UNKNOWN_SERVER: 404,
  UNKNOWN_TOOL: 404,
  UNKNOWN_TASK: 404,
  // Another step has to happen first. Not 401: that would refer to our own token.
  NEEDS_AUTH: 409,
  NEEDS_CLIENT_REGISTRATION: 409,
  CONFIG_UNWRITABLE: 409,
  CANCELLED: 409,
  TASK_LOST: 409,
  INTERNAL: 500,
  OUTPUT_FAILED: 500,
  START_FAILED: 502,
  LOCK_FAILED: 502,
  CONNECT_FAILED: 502,
  NOT_MCP: 502,
  CONNECTION_LOST: 502,
  PROTOCOL_ERROR: 502,
  LIMIT_EXCEEDED: 502,
  REQUIRED_FAILED: 502,
  STORE_FAILED: 502,
  TIMEOUT: 504,
  RATE_LIMITED: 429,
};

/** A refusal with a status other than that of its code. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly error: PlugboardError;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, error: PlugboardError, headers: Readonly<Record<string, string>> = {}) {
    super(error.message);
    this.status = status;
    this.error = error;
    this.headers = headers;
  }
}

/** Builds a refusal of the HTTP layer itself, from one sentence. */
export function refusal(
  status: number,
  message: string,
  more: { readonly hint?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): HttpFailure {
  const code = status === 401 || status === 403 ? 'DENIED' : status >= 413 ? 'LIMIT_EXCEEDED' : 'USAGE';
  return new HttpFailure(status, new PlugboardError(code, message, { hint: more.hint }), more.headers);
}

export function statusOf({ code }: PlugboardError): number {
  return STATUS[code];
}

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

interface StreamRoute extends RouteBase {
  readonly stream: (
    request: IncomingMessage,
    response: ServerResponse,
    given: Pick<ApiRequest, 'params' | 'query'>,
  ) => void;
}

export type Route = JsonRoute | StreamRoute;
