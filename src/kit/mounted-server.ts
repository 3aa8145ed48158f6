/** A server inside another program: a function from request to response, and middleware for Node's servers. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Backend, Served } from '../endpoint/backend.ts';
import { FetchResponse, headersOf, readFetchBody } from '../endpoint/fetch-response.ts';
import { Guard } from '../endpoint/guard.ts';
import { HttpAccess, openAdmission } from '../endpoint/http-access.ts';
import { McpEndpoint } from '../endpoint/http-mcp.ts';
import { MCP_PATH } from '../endpoint/http-paths.ts';
import type { McpRequest } from '../endpoint/replicas.ts';
import { type Body, parsedBody } from '../endpoint/request-body.ts';
import { answerWithRoute, HttpFront } from './http-front.ts';
import type { WebOptions } from './http-options.ts';
import type { NextHandler } from './mounting.ts';
import { PublicAddress } from './public-address.ts';

export class MountedServer implements Served {
  readonly closed: Promise<void>;
  readonly #backend: Backend;
  readonly #endpoint: McpEndpoint;
  readonly #access: HttpAccess;
  readonly #front: HttpFront;
  readonly #options: WebOptions;
  #closing: Promise<void> | undefined;
  #isOver = (): void => {};

  constructor(backend: Backend, options: WebOptions) {
    const { path = MCP_PATH, verifier } = options;
    const token = options.token || undefined;
    const address = new PublicAddress(options);
    this.#backend = backend;
    this.#options = options;
    this.#endpoint = new McpEndpoint(backend, undefined, undefined, options);
    this.#front = new HttpFront(options, () => backend.isClosing);
    const isProtected = token !== undefined || verifier !== undefined;
    const guard = new Guard({
      local: true,
      token,
      verifier,
      // A page whose name was rebound to us has no token; without one, only known names are safe.
      isOurHost: (host) => isProtected || address.isServed(host),
      isKnownOrigin: (origin) => this.#front.isKnownOrigin(origin),
      metadataUrl: (headers) => address.metadata(headers),
      unknownHost: 'This Host is not served here: add it to `hosts`, or give the server its `url`.',
    });
    this.#access = new HttpAccess({
      path,
      guard,
      admission: openAdmission(path),
      backend,
      verifier,
      resource: (headers) => address.resource(headers),
    });
    this.closed = new Promise((resolve) => {
      this.#isOver = resolve;
    });
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const headers = headersOf(request);
    const route = this.#front.route(request.method, pathname);
    if (route !== undefined) return this.#withCors(await route(request), headers);
    const response = new FetchResponse(request.signal);
    const incoming: McpRequest = { method: request.method, headers };
    if (!this.#front.answer(incoming, response, pathname)) {
      this.#access.check(incoming, response, pathname, (principal, caller) => {
        void bodyOf(request, this.#options.maxBodyBytes).then((body) =>
          this.#endpoint.handleMounted(incoming, response, { principal, caller, body }),
        );
      });
    }
    return response.response;
  }

  node(request: IncomingMessage, response: ServerResponse, next: NextHandler | undefined): void {
    const { method, url = '/', headers } = request;
    const path = url.split('?', 1)[0] ?? '/';
    if (next !== undefined && !this.#front.owns(method, path)) return void next();
    if ('encrypted' in request.socket) headers[':scheme'] ??= 'https';
    if (this.#front.answer(request, response, path)) return;
    const route = this.#front.route(method, path);
    if (route !== undefined) return void answerWithRoute(request, response, route);
    this.#access.check(request, response, path, (principal, caller) => {
      const body = parsedBefore(request);
      if (body === undefined) this.#endpoint.handle(request, response, principal, caller);
      else this.#endpoint.handleMounted(request, response, { principal, caller, body });
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#backend.close();
    // Responses of this tick still have to be written.
    await new Promise((resolve) => setTimeout(resolve, 0));
    await this.#endpoint.close();
    this.#isOver();
  }

  #withCors(answer: Response, headers: McpRequest['headers']): Response {
    const added = this.#front.corsHeaders(headers);
    if (added.length === 0) return answer;
    const response = new Response(answer.body, answer);
    for (const [name, value] of added) response.headers.set(name, value);
    return response;
  }
}

/** Only a POST has one that is read. */
async function bodyOf(request: Request, limit: number | undefined): Promise<Body> {
  if (request.method !== 'POST') return { status: 400 };
  return readFetchBody(request, limit).catch((): Body => ({ status: 400 }));
}

/** Returns the body if a middleware such as `express.json()` has read it; undefined if it is still to be read. */
function parsedBefore(request: IncomingMessage): Body | undefined {
  const { body } = request as { readonly body?: unknown };
  if (request.method !== 'POST' || body === undefined || !request.readableEnded) return undefined;
  if (typeof body === 'string') return parsedBody(Buffer.from(body));
  return body instanceof Uint8Array ? parsedBody(Buffer.from(body)) : { value: body };
}
