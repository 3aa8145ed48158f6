/** JSON-RPC 2.0 message types and serialization; only the envelope is validated here. */

export type RequestId = string | number;

/** A JSON-RPC request. */
export interface JsonRpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** A JSON-RPC notification. */
export interface JsonRpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** A JSON-RPC response with a result. */
export interface JsonRpcResult {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result: unknown;
}

/** A JSON-RPC response with an error. */
export interface JsonRpcFailure {
  readonly jsonrpc: '2.0';
  readonly id: RequestId | null;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A JSON-RPC message. */
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResult | JsonRpcFailure;

export const RPC_PARSE_ERROR = -32700;
export const RPC_INVALID_REQUEST = -32600;
export const RPC_METHOD_NOT_FOUND = -32601;
export const RPC_INVALID_PARAMS = -32602;
export const RPC_INTERNAL_ERROR = -32603;

/** Modern: a mirrored header did not match the body: the client's copy of the tool's schema is outdated. */
export const RPC_HEADER_MISMATCH = -32020;
/** Modern: the request needs a capability that its client did not declare. */
export const RPC_MISSING_CAPABILITY = -32021;
/** Modern: the server does not support the version of the request; the error data lists the supported versions. */
export const RPC_UNSUPPORTED_VERSION = -32022;
/** Legacy: a person has to open a URL before the call can work. */
/** A budget is used up; `data.retryAfterSeconds` has the time until it is renewed. */
export const RPC_RATE_LIMITED = -32029;
export const RPC_URL_ELICITATION_REQUIRED = -32042;

/** Prefix for the digits of a numeric id that is too large for JavaScript; see `endpoint/request-body.ts`. */
export const EXACT_NUMBER_MARK = '\0number:';
const EXACT_NUMBER = /"\\u0000number:(-?\d+)"/g;

function hasExactNumber(message: JsonRpcMessage): boolean {
  const id = 'id' in message ? message.id : undefined;
  if (typeof id === 'string') return id.startsWith(EXACT_NUMBER_MARK);
  const token = 'params' in message ? message.params?.['progressToken'] : undefined;
  return typeof token === 'string' && token.startsWith(EXACT_NUMBER_MARK);
}

/** Serializes a message. A result that JSON cannot represent (a cycle, a bigint) becomes an error response. */
export function messageText(message: JsonRpcMessage): string {
  try {
    const text = JSON.stringify(message);
    return hasExactNumber(message) ? text.replaceAll(EXACT_NUMBER, '$1') : text;
  } catch (thrown) {
    if (!('result' in message)) throw thrown;
    return JSON.stringify(unwritable(message.id, thrown));
  }
}

export function unwritable(id: RequestId, thrown: unknown): JsonRpcFailure {
  const [why] = (thrown instanceof Error ? thrown.message : String(thrown)).split('\n', 1);
  const message = `The answer cannot be written as JSON: ${why}`;
  return { jsonrpc: '2.0', id, error: { code: RPC_INTERNAL_ERROR, message } };
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || typeof value === 'number';
}
