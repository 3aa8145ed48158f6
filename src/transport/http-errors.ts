/** Converts HTTP and socket failures into PlugboardErrors. */

import { type ErrorDetail, PlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';
import { isRecord, parseRecord } from '../lib/json.ts';
import { RPC_HEADER_MISMATCH, RPC_MISSING_CAPABILITY, RPC_UNSUPPORTED_VERSION } from '../lib/json-rpc.ts';
import { MAX_ASKED_DELAY_MS } from '../lib/retry.ts';

/** Error codes of modern servers: no fallback to an older transport. */
const MODERN_RPC_CODES: ReadonlySet<number> = new Set([
  RPC_HEADER_MISMATCH,
  RPC_MISSING_CAPABILITY,
  RPC_UNSUPPORTED_VERSION,
]);

/** 4xx statuses that do not indicate the wrong transport. */
const NOT_A_TRANSPORT_STATUS = new Set([401, 403, 407, 408, 425, 429]);

/** The stage of a request when its connection failed. */
export type Progress = 'not sent' | 'sent' | 'answering';

type Explanation = readonly [sentence: string, hint: string];

const LATE: Explanation = [
  'It did not answer in time',
  'Check your network, a VPN or a firewall in between.',
];
const NO_ROUTE: Explanation = ['There is no route to it', 'Check your network or VPN.'];
const DENIED: Explanation = ['The system does not allow it', 'Check a firewall or sandbox on this machine.'];
const NO_TLS: Explanation = ['It does not speak TLS', 'Try the url with http:// if the server has no TLS.'];

const UNREACHABLE: ReadonlyMap<string, Explanation> = new Map([
  [
    'ECONNREFUSED',
    ['Nothing is listening there', 'Check that the server is running and that the port is right.'],
  ],
  [
    'ENOTFOUND',
    ['Its name could not be found', 'Check the spelling of the host in the url, and your network.'],
  ],
  ['EAI_AGAIN', ['Its name could not be looked up just now', 'Check your network or DNS and try again.']],
  ['ETIMEDOUT', LATE],
  ['UND_ERR_CONNECT_TIMEOUT', LATE],
  ['EHOSTUNREACH', NO_ROUTE],
  ['ENETUNREACH', NO_ROUTE],
  ['EACCES', DENIED],
  ['EPERM', DENIED],
  ['CERT_HAS_EXPIRED', ['Its certificate has expired', 'The server needs a new certificate.']],
  ['ERR_TLS_CERT_ALTNAME_INVALID', ['Its certificate is for another host', 'Check the host in the url.']],
  ['EPROTO', NO_TLS],
  ['ERR_SSL_WRONG_VERSION_NUMBER', NO_TLS],
]);

const UNTRUSTED_CERTIFICATE = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Errors before a connection existed, even if `fetch` reports them after it received the request. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  ...UNTRUSTED_CERTIFICATE,
]);

/** Converts a failure below HTTP: DNS, socket, TLS, or invalid arguments. */
export function socketError(thrown: unknown, host: string, progress: Progress): PlugboardError {
  const known = findPlugboardError(thrown);
  if (known) return known;
  const code = socketCode(thrown);
  if (code === 'UND_ERR_INVALID_ARG') {
    return new PlugboardError(
      'CONFIG_INVALID',
      'A header for this server has a name or value that HTTP does not allow',
      {
        hint: 'Look for line breaks or letters outside ASCII in its headers and tokens.',
        detail: { notSent: true, permanent: true },
      },
    );
  }
  if (progress === 'sent' && thrown instanceof Error && thrown.name === 'HTTPParserError')
    return notMcp(host, 'it does not speak HTTP', undefined);
  if (progress !== 'not sent' && !NEVER_SENT.has(code)) {
    const when = progress === 'sent' ? 'before it answered' : 'in the middle of its answer';
    return new PlugboardError('CONNECTION_LOST', `The connection to ${host} broke ${when}`, {
      cause: thrown,
    });
  }
  const [sentence, hint] = UNTRUSTED_CERTIFICATE.has(code)
    ? [
        'Its certificate is not trusted',
        'For a private authority, set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE to its certificate file.',
      ]
    : (UNREACHABLE.get(code) ?? ['The connection could not be made', 'Check the url and your network.']);
  return new PlugboardError(
    'CONNECT_FAILED',
    `Cannot reach ${host}. ${sentence}${code ? ` (${code})` : ''}.`,
    { hint, cause: thrown, detail: { notSent: true } },
  );
}

/** A failed response with its body. */
export interface FailedResponse {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** The connection state that is needed to interpret a status. */
export interface StatusContext {
  readonly host: string;
  /** The request had a session id. */
  readonly session: boolean;
  /** A request of that session has succeeded before. */
  readonly sessionWorked: boolean;
  readonly now: number;
}

/** Converts a status outside 200–299 whose body is not the response to the request. */
export function statusError(response: FailedResponse, context: StatusContext): PlugboardError {
  const { status } = response;
  const { host } = context;
  const rpc = rpcErrorOf(response);
  const detail: ErrorDetail = {
    httpStatus: status,
    ...defined({ rpcCode: rpc?.code, rpcData: rpc?.data }),
  };
  if (sessionExpired(response, context)) {
    return new PlugboardError('CONNECTION_LOST', `${host} no longer knows this session (HTTP ${status})`, {
      hint: 'A new session must be opened.',
      detail: { ...detail, sessionExpired: true, notSent: true },
    });
  }
  if (status === 401 || status === 403) return accessError(status, host);
  if (status === 429 || status >= 500) {
    const retryAfterMs = parseRetryAfter(response.retryAfter, context.now);
    const what = status === 429 ? 'is rate limiting requests' : 'returned a server error';
    return new PlugboardError('CONNECT_FAILED', `${host} ${what} (HTTP ${status})${errorText(rpc)}`, {
      hint:
        retryAfterMs === undefined
          ? 'Try again later.'
          : `Try again in ${Math.ceil(retryAfterMs / 1000)} s, as the server asked.`,
      detail: retryAfterMs === undefined ? detail : { ...detail, retryAfterMs },
    });
  }
  if (
    rpc === undefined &&
    (status === 404 || status === 405 || status === 410 || response.contentType === 'text/html')
  ) {
    return notMcp(host, `it answered HTTP ${status}`, status);
  }
  return new PlugboardError(
    'CONNECT_FAILED',
    `${host} refused the request (HTTP ${status})${errorText(rpc)}`,
    {
      hint: 'Check the url and the headers of this server.',
      detail,
    },
  );
}

/** Returns the error for a URL that is not an MCP server. */
export function notMcp(host: string, because: string, httpStatus: number | undefined): PlugboardError {
  return new PlugboardError('NOT_MCP', `This url does not speak MCP: ${because} (${host})`, {
    hint: 'Check the path of the url, often /mcp or /sse; a sign-in page or proxy may be in between.',
    detail: httpStatus === undefined ? {} : { httpStatus },
  });
}

export function accessError(status: 401 | 403, host: string): PlugboardError {
  const message =
    status === 401 ? `${host} requires a login (HTTP 401)` : `${host} does not allow this (HTTP 403)`;
  return new PlugboardError('NEEDS_AUTH', message, {
    hint: 'Sign in to this server, or check its token or headers.',
    detail: { httpStatus: status },
  });
}

/**
 * Whether this failure of `initialize`, as the first POST after any probe, means that the server may support the older
 * HTTP+SSE transport. Never true for access errors.
 */
export function opensLegacySse(error: PlugboardError): boolean {
  const { httpStatus, rpcCode, sessionExpired: expired } = error.detail;
  if (error.code !== 'NOT_MCP' && error.code !== 'CONNECT_FAILED') return false;
  if (httpStatus === undefined || httpStatus < 400 || httpStatus > 499 || expired) return false;
  if (rpcCode !== undefined && MODERN_RPC_CODES.has(rpcCode)) return false;
  return !NOT_A_TRANSPORT_STATUS.has(httpStatus);
}

/** Whether a 400 or 404 response concerns the session and not the request. */
export function sessionExpired(response: FailedResponse, context: StatusContext): boolean {
  if (!context.session) return false;
  const rpc = rpcErrorOf(response);
  // "Method not found" and "invalid params" are responses, even with status 404.
  if (response.status === 404) return rpc?.code !== -32601 && rpc?.code !== -32602;
  if (response.status !== 400) return false;
  if (rpc !== undefined && rpc.id !== null && rpc.id !== undefined) return /session/i.test(rpc.message);
  return context.sessionWorked || /session/i.test(response.body);
}

/** Parses Retry-After, seconds or a date, into milliseconds from now. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  if (Number.isNaN(ms)) return undefined;
  return Math.min(Math.max(ms, 0), MAX_ASKED_DELAY_MS);
}

interface RpcError {
  readonly id: unknown;
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

function rpcErrorOf(response: FailedResponse): RpcError | undefined {
  if (!response.contentType.endsWith('json')) return undefined;
  const { id, error } = parseRecord(response.body) ?? {};
  if (!isRecord(error)) return undefined;
  const { code, message, data } = error;
  if (typeof code !== 'number') return undefined;
  return { id, code, message: typeof message === 'string' ? message : '', data };
}

const MAX_SAID_CHARS = 200;

/** Returns the server's error message, short and on one line. */
function errorText(rpc: RpcError | undefined): string {
  if (!rpc?.message) return '';
  const line = rpc.message.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  const short =
    line.length > MAX_SAID_CHARS ? `${line.slice(0, MAX_SAID_CHARS)}…` : line.replace(/[.:]+$/, '');
  return short === '' ? '' : `: ${short}`;
}

function findPlugboardError(thrown: unknown): PlugboardError | undefined {
  if (thrown instanceof PlugboardError) return thrown;
  return thrown instanceof Error && thrown.cause instanceof PlugboardError ? thrown.cause : undefined;
}

export function socketCode(thrown: unknown): string {
  if (!isRecord(thrown)) return '';
  if (typeof thrown['code'] === 'string') return thrown['code'];
  const inner = Array.isArray(thrown['errors']) ? thrown['errors'][0] : thrown['cause'];
  return inner === undefined ? '' : socketCode(inner);
}
