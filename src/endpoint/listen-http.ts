/** Serves an endpoint over HTTP: access control, limits, and shutdown. */

import { once } from 'node:events';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import type { Backend, Served } from './backend.ts';
import {
  type Admission,
  type AuthResult,
  Guard,
  isLoopback,
  type NamedTokens,
  type TokenVerifier,
} from './guard.ts';
import { McpEndpoint, refuse } from './http-mcp.ts';
import { LegacySse } from './http-sse.ts';
import type { Replicas } from './replicas.ts';
import { endWith } from './response-stream.ts';
import { type IssuedStorage, SessionRecords, type SessionStorage } from './session-records.ts';

const MCP_PATH = '/mcp';
const DEFAULT_HOST = '127.0.0.1';
const HEADERS_TIMEOUT_MS = 10_000;
/** How often both timeouts are checked: Node's default would turn ten seconds into thirty. */
const CHECK_MS = 5_000;
/** A request must arrive completely within this time; its response may take longer. */
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;
/** Time limit for the last responses to be sent. */
const DRAIN_MS = 1_000;
const DRAIN_TICK_MS = 50;
const MAX_HEADER_BYTES: number = 32 * 1024;
const MAX_CONNECTIONS = 20_000;

export interface ListenOptions {
  /** Default 127.0.0.1. Other interfaces require a token or a verifier. */
  readonly host?: string | undefined;
  /** 0 selects any free port. */
  readonly port: number;
  /** If given, every request must carry it as its bearer token. */
  readonly token?: string | undefined;
  /** If given, these are accepted too; the work of one of them ends with it. */
  readonly named?: NamedTokens | undefined;
  /** Whether requests without a token are accepted too. */
  readonly optional?: boolean | undefined;
  /** Decides what an authenticated client may use; default: everything, at `/mcp`. */
  readonly admission?: Admission | undefined;
  /** Message for requests without a valid token. */
  readonly needed?: string | undefined;
  /** If given, tokens that it verifies are accepted. */
  readonly verifier?: TokenVerifier | undefined;
  /** Also serve the HTTP+SSE transport of 2024-11-05, at `/sse`. */
  readonly legacySse?: boolean | undefined;
  /** Handles paths other than MCP's. */
  readonly mounted?: MountedHandler | undefined;
  /** Answers GET requests without a token, also while the server closes. */
  readonly openRoutes?: OpenRoutes | undefined;
  /** Other processes that serve the same clients; their storage is used for legacy sessions. */
  readonly replicas?: Replicas | undefined;
  /** Records legacy sessions there, so that they continue after a restart. Default: memory only. */
  readonly sessionStorage?: SessionStorage | undefined;
}

/** Another handler at the same address. It does its own access control. */
export interface MountedHandler {
  /** Called with the port once we listen. */
  listensOn(port: number): void;
  /** Returns false if the path is not one of its own. */
  handle(request: IncomingMessage, response: ServerResponse, path: string): boolean;
  close(): void;
}

/** Routes that need no token, for probes and metrics. */
export interface OpenRoutes {
  /** Returns undefined if the path is not one of its own. */
  route(path: string): OpenRoute | undefined;
}

export interface OpenRoute {
  /** Whether the response depends on the client; a client without a valid token is undefined. */
  readonly identifies: boolean;
  answer(principal: string | undefined): {
    readonly status: number;
    readonly type: string;
    readonly text: string;
  };
}

export interface ServedHttp extends Served {
  /** The address for MCP clients. */
  readonly url: string;
}

/** Throws if other machines could connect without authentication. */
export function checkReach(
  host: string = DEFAULT_HOST,
  { proof, hint }: { readonly proof: boolean; readonly hint: string },
): void {
  if (isLoopback(host) || proof) return;
  throw new PlugboardError('USAGE', `${host} can be reached from other machines: a token is needed`, {
    hint,
  });
}

/** Serves a backend at `/mcp`, in both eras. The backend is closed with it, and also if it cannot listen. */
export async function listenHttp(backend: Backend, options: ListenOptions): Promise<ServedHttp> {
  const name = options.host ?? DEFAULT_HOST;
  const local = isLoopback(name);
  const { token, named, needed, verifier, mounted, sessionStorage, admission = open(named) } = options;
  const guard = new Guard({ local, token, named, optional: options.optional, needed, verifier });
  const bindingOf = (principal: string): string => admission.bindingOf(principal) || (token ?? '');
  const { replicas } = options;
  const storage = replicas === undefined ? sessionStorage : replicatedStorage(replicas);
  const records = storage && new SessionRecords(storage, bindingOf);
  const others = replicas && records && { replicas, holderOf: (name: string) => records.holderOf(name) };
  const endpoint = new McpEndpoint(backend, records, others);
  const sse = options.legacySse === true ? new LegacySse(backend) : undefined;
  const stopWatching = admission.onEnd((name) => {
    const reason = accessEnded();
    endpoint.dismiss(name, reason);
    sse?.dismiss(name, reason);
    backend.suspended.dismiss(name, reason);
    backend.dismissed?.(name);
  });
  const { openRoutes } = options;
  const doors: Doors = { guard, admission, backend, endpoint, sse, verifier, mounted, openRoutes, replicas };
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      noDelay: true,
    },
    (request, response) => respond(request, response, doors),
  );
  server.maxConnections = MAX_CONNECTIONS;
  let port: number;
  try {
    port = await listen(server, name.replace(/^\[|\]$/g, ''), options.port);
  } catch (error) {
    stopWatching();
    await endpoint.close();
    mounted?.close();
    await backend.close();
    throw error;
  }
  guard.listensOn(port);
  mounted?.listensOn(port);
  const closed = new Promise<void>((resolve) => {
    server.once('close', resolve);
  });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    if (replicas !== undefined) await endpoint.drain();
    server.close();
    await replicas?.leave();
    stopWatching();
    mounted?.close();
    await backend.close();
    // Responses of this tick still have to be written, and then sent.
    await new Promise(setImmediate);
    await endpoint.close();
    sse?.close();
    await drained(server, closed);
    server.closeAllConnections();
    await closed;
    // Clients in this process get the close of their connections before this resolves.
    await new Promise(setImmediate);
  };
  return {
    url: `http://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}${MCP_PATH}`,
    closed,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Waits until written responses are sent, as long as their clients read them, within a limit. */
async function drained(server: HttpServer, closed: Promise<void>): Promise<void> {
  let ticks = 0;
  await new Promise<void>((resolve) => {
    const look = setInterval(() => {
      server.closeIdleConnections();
      ticks += 1;
      if (ticks * DRAIN_TICK_MS >= DRAIN_MS) resolve();
    }, DRAIN_TICK_MS);
    setImmediate(() => server.closeIdleConnections());
    void closed.then(resolve);
    void closed.finally(() => clearInterval(look));
  });
}

interface Doors {
  readonly guard: Guard;
  readonly admission: Admission;
  readonly backend: Backend;
  readonly endpoint: McpEndpoint;
  readonly sse: LegacySse | undefined;
  readonly verifier: TokenVerifier | undefined;
  readonly mounted: MountedHandler | undefined;
  readonly openRoutes: OpenRoutes | undefined;
  readonly replicas: Replicas | undefined;
}

function respond(request: IncomingMessage, response: ServerResponse, doors: Doors): void {
  const { guard, backend, verifier, mounted, openRoutes, replicas } = doors;
  const { url = '/' } = request;
  const path = url === MCP_PATH ? url : (url.split('?', 1)[0] ?? '/');
  if (!backend.isClosing && mounted?.handle(request, response, path)) return;
  const place = guard.refusePlace(request.headers);
  if (place !== undefined) {
    refuse(response, place.status, place.message);
    return;
  }
  const route = path === MCP_PATH ? undefined : openRoutes?.route(path);
  if (route !== undefined) {
    answerOpenly(request, response, route, doors);
    return;
  }
  // The metadata that shows clients how to get a token needs no token itself.
  if (verifier !== undefined && path.startsWith(verifier.metadataPath) && request.method === 'GET') {
    endWith(response, 200, JSON.stringify(verifier.metadata));
    return;
  }
  if (replicas?.state.isDraining === true) response.setHeader('connection', 'close');
  if (backend.isClosing) {
    response.setHeader('connection', 'close');
    refuse(response, 503, 'This server is closing');
    return;
  }
  const verdict = guard.identify(request.headers);
  if (verdict instanceof Promise) void verdict.then((late) => enter(request, response, path, late, doors));
  else enter(request, response, path, verdict, doors);
}

function answerOpenly(
  request: IncomingMessage,
  response: ServerResponse,
  route: OpenRoute,
  { guard, admission }: Doors,
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    refuse(response, 405, 'This route uses GET');
    return;
  }
  const answer = (verdict: AuthResult | undefined): void => {
    const isCaller = verdict !== undefined && 'principal' in verdict;
    const admitted = isCaller ? admission.admit(verdict, MCP_PATH) : undefined;
    const { status, type, text } = route.answer(typeof admitted === 'string' ? admitted : undefined);
    response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
    response.end(request.method === 'HEAD' ? undefined : text);
  };
  const verdict = route.identifies ? guard.identify(request.headers) : undefined;
  if (verdict instanceof Promise) void verdict.then(answer);
  else answer(verdict);
}

function enter(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  verdict: AuthResult,
  { admission, endpoint, sse }: Doors,
): void {
  const isSse = sse?.handles(path) === true;
  const admitted = 'principal' in verdict ? admission.admit(verdict, isSse ? MCP_PATH : path) : verdict;
  if (admitted === undefined) refuse(response, 404, `MCP is served at ${MCP_PATH}.`);
  else if (typeof admitted !== 'string') {
    for (const [header, value] of Object.entries(admitted.headers ?? {})) response.setHeader(header, value);
    if (admitted.status === 401) refuseToken(response, admitted.message);
    else refuse(response, admitted.status, admitted.message);
  } else if (isSse) sse.handle(request, response, admitted);
  else endpoint.handle(request, response, admitted);
}

/** Answers in the form of OAuth errors (RFC 6749): clients that try to log in here parse nothing else. */
function refuseToken(response: ServerResponse, message: string): void {
  endWith(response, 401, JSON.stringify({ error: 'invalid_token', error_description: message }));
}

function accessEnded(): PlugboardError {
  return new PlugboardError('CANCELLED', 'This client no longer has access', {
    hint: 'Its token was revoked or has expired, or its profile has changed.',
  });
}

function replicatedStorage(replicas: Replicas): IssuedStorage {
  return {
    store: replicas.store,
    ids: {
      issue: (holder) => replicas.issue('session', holder),
      isIssued: (id, holder) => replicas.placeOf('session', id, holder) !== 'unknown',
    },
  };
}

/** Admits every authenticated client. */
function open(named: NamedTokens | undefined): Admission {
  return {
    admit: ({ principal }, path) => (path === MCP_PATH ? principal : undefined),
    bindingOf: (principal) => named?.bindingOf(principal) ?? '',
    onEnd: (listener) => named?.onEnd(listener) ?? (() => {}),
  };
}

async function listen(server: HttpServer, host: string, port: number): Promise<number> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const taken = errorCode(cause) === 'EADDRINUSE';
    const message = taken ? `Port ${port} is taken.` : `Cannot listen on ${host}, port ${port}.`;
    throw new PlugboardError('START_FAILED', message, { hint: 'Choose another port.', cause });
  }
  // A listening TCP server has an address with a port.
  return (server.address() as AddressInfo).port;
}
