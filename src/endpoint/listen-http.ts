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
  Guard,
  type GuardOptions,
  isLoopback,
  type NamedTokens,
  type TokenVerifier,
} from './guard.ts';
import { HttpAccess, type HttpAccessParts, type OpenRoutes, openAdmission } from './http-access.ts';
import { type EndpointLimits, McpEndpoint } from './http-mcp.ts';
import { MCP_PATH } from './http-paths.ts';
import { LegacySse } from './http-sse.ts';
import type { Replicas } from './replicas.ts';
import { type IssuedStorage, SessionRecords, type SessionStorage } from './session-records.ts';

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

export interface ListenOptions
  extends EndpointLimits,
    Pick<GuardOptions, 'isOurHost' | 'isKnownOrigin' | 'metadataUrl'>,
    Pick<HttpAccessParts, 'resource'> {
  /** Where MCP is served; default `/mcp`. */
  readonly path?: string | undefined;
  /** Called first with every request, also while the server closes; true if it answers it. */
  readonly front?:
    | ((request: IncomingMessage, response: ServerResponse, path: string) => boolean)
    | undefined;
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
  const {
    token,
    named,
    needed,
    verifier,
    mounted,
    sessionStorage,
    front,
    path: mcpPath = MCP_PATH,
  } = options;
  const { admission = openAdmission(mcpPath, named) } = options;
  const { isOurHost, isKnownOrigin, metadataUrl } = options;
  const guard = new Guard({
    local,
    token,
    named,
    optional: options.optional,
    needed,
    verifier,
    isOurHost,
    isKnownOrigin,
    metadataUrl,
  });
  const bindingOf = (principal: string): string => admission.bindingOf(principal) || (token ?? '');
  const { replicas } = options;
  const storage = replicas === undefined ? sessionStorage : replicatedStorage(replicas);
  const records = storage && new SessionRecords(storage, bindingOf);
  const others = replicas && records && { replicas, holderOf: (name: string) => records.holderOf(name) };
  const endpoint = new McpEndpoint(backend, records, others, options);
  const sse = options.legacySse === true ? new LegacySse(backend) : undefined;
  const stopWatching = admission.onEnd((name) => {
    const reason = accessEnded();
    endpoint.dismiss(name, reason);
    sse?.dismiss(name, reason);
    backend.suspended.dismiss(name, reason);
    backend.dismissed?.(name);
  });
  const { openRoutes, resource } = options;
  const isSse = (path: string): boolean => sse?.handles(path) === true;
  const access = new HttpAccess({
    path: mcpPath,
    guard,
    admission,
    backend,
    verifier,
    openRoutes,
    isAlias: isSse,
    resource,
  });
  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    const { url = '/' } = request;
    const path = url === mcpPath ? url : (url.split('?', 1)[0] ?? '/');
    if (front?.(request, response, path) === true) return;
    if (!backend.isClosing && mounted?.handle(request, response, path)) return;
    if (replicas?.state.isDraining === true) response.setHeader('connection', 'close');
    access.check(request, response, path, (principal, caller) => {
      if (sse !== undefined && isSse(path)) sse.handle(request, response, principal);
      else endpoint.handle(request, response, principal, caller);
    });
  };
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      noDelay: true,
    },
    respond,
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
    url: `http://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}${mcpPath}`,
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
