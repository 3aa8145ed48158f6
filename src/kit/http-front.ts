/** The routes of a server over HTTP besides MCP: CORS, its health, and those of its author. */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { refuse } from '../endpoint/http-mcp.ts';
import { MCP_PATH, METADATA_PATH } from '../endpoint/http-paths.ts';
import type { McpRequest, McpResponse } from '../endpoint/replicas.ts';
import { endWith } from '../endpoint/response-stream.ts';
import { type CorsOptions, healthPathOf, type Route, routeOf, type WebOptions } from './http-options.ts';

const CORS_MAX_AGE_S: number = 24 * 60 * 60;
const METHODS = 'GET, POST, DELETE, OPTIONS';
/** Those of the protocol; a preflight that names others gets them allowed too, because tools may declare headers. */
const REQUEST_HEADERS =
  'Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID';
const RESPONSE_HEADERS = 'Mcp-Session-Id, WWW-Authenticate';
const ALL: CorsOptions = { origins: '*' };

export class HttpFront {
  readonly #options: WebOptions;
  readonly #cors: CorsOptions | undefined;
  readonly #origins: ReadonlySet<string>;
  readonly #health: string | undefined;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #isClosing: () => boolean;

  constructor(options: WebOptions, isClosing: () => boolean) {
    const { cors = false, routes = {} } = options;
    this.#options = options;
    this.#cors = typeof cors === 'object' ? cors : cors ? ALL : undefined;
    const { origins = [] } = this.#cors ?? {};
    this.#origins = new Set(origins === '*' ? [] : origins.map((origin) => origin.toLowerCase()));
    this.#health = healthPathOf(options);
    this.#routes = new Map(
      Object.entries(routes).map(([key, route]) => {
        const { method, path } = routeOf(key);
        return [`${method ?? ''} ${path}`, route];
      }),
    );
    this.#isClosing = isClosing;
  }

  isKnownOrigin(origin: string): boolean {
    return this.#cors?.origins === '*' || this.#origins.has(origin.toLowerCase());
  }

  /** Whether a request belongs to this server: the others are for the program that it is mounted in. */
  owns(method: string | undefined, path: string): boolean {
    const { path: mcpPath = MCP_PATH, verifier } = this.#options;
    if (path === mcpPath || path === this.#health || this.#isRoute(method, path)) return true;
    return verifier?.metadata !== undefined && path.startsWith(verifier.metadataPath ?? METADATA_PATH);
  }

  /** Adds the headers of CORS, and answers preflights and the health route; true if it answered. */
  answer({ method, headers }: McpRequest, response: McpResponse, path: string): boolean {
    for (const [name, value] of this.corsHeaders(headers)) response.setHeader(name, value);
    if (method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && this.#cors) {
      const isAllowed = headers.origin !== undefined && this.isKnownOrigin(headers.origin);
      if (isAllowed) response.writeHead(204, this.#preflight(headers)).end();
      else refuse(response, 403, 'Requests from this origin are refused.');
      return true;
    }
    if (path !== this.#health) return false;
    const isClosing = this.#isClosing();
    endWith(response, isClosing ? 503 : 200, JSON.stringify({ status: isClosing ? 'closing' : 'ok' }));
    return true;
  }

  /** The author's route for a request. */
  route(method: string | undefined, path: string): Route | undefined {
    return this.#routes.get(`${method ?? 'GET'} ${path}`) ?? this.#routes.get(` ${path}`);
  }

  corsHeaders({ origin }: IncomingHttpHeaders): readonly (readonly [name: string, value: string])[] {
    if (this.#cors === undefined || origin === undefined || !this.isKnownOrigin(origin)) return [];
    const { origins, credentials = false } = this.#cors;
    return [
      ['access-control-allow-origin', origins === '*' ? '*' : origin],
      ['access-control-expose-headers', RESPONSE_HEADERS],
      ['vary', 'Origin'],
      ...(credentials ? [['access-control-allow-credentials', 'true'] as const] : []),
    ];
  }

  #isRoute(method: string | undefined, path: string): boolean {
    if (this.route(method, path) !== undefined) return true;
    // A preflight of any route.
    return method === 'OPTIONS' && [...this.#routes.keys()].some((key) => key.endsWith(` ${path}`));
  }

  #preflight(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
    const asked = headers['access-control-request-headers'];
    return {
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': typeof asked === 'string' ? asked : REQUEST_HEADERS,
      'access-control-max-age': String(this.#cors?.maxAgeS ?? CORS_MAX_AGE_S),
    };
  }
}

/** Answers a request to Node's server with a route of the Fetch standard. */
export function answerWithRoute(request: IncomingMessage, response: ServerResponse, route: Route): void {
  const answered = async (): Promise<void> => {
    const { status, headers, body } = await route(await toRequest(request));
    response.writeHead(status, Object.fromEntries(headers));
    if (body !== null) for await (const chunk of body) response.write(chunk);
    response.end();
  };
  answered().catch(() => {
    if (response.headersSent) response.destroy();
    else refuse(response, 500, 'The route failed');
  });
}

async function toRequest(request: IncomingMessage): Promise<Request> {
  const { method = 'GET', url = '/', headers } = request;
  const scheme = 'encrypted' in request.socket ? 'https' : 'http';
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name.startsWith(':') ? [] : [[name, [value].flat().join(', ')]],
  );
  const init = { method, headers: given };
  const address = new URL(url, `${scheme}://${headers.host ?? 'localhost'}`);
  if (method === 'GET' || method === 'HEAD') return new Request(address, init);
  const { Readable } = await import('node:stream');
  const body = Readable.toWeb(request) as ReadableStream<Uint8Array>;
  return new Request(address, { ...init, body, duplex: 'half' } as RequestInit);
}
