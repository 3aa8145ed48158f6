/** Decides who may send an HTTP request to MCP: checks its place and its sender, and answers the routes that need no token. */

import type { IncomingHttpHeaders } from 'node:http';
import type { Backend } from './backend.ts';
import type { Admission, AuthResult, Caller, Guard, NamedTokens, TokenVerifier } from './guard.ts';
import { refuse } from './http-mcp.ts';
import { METADATA_PATH } from './http-paths.ts';
import type { McpRequest, McpResponse } from './replicas.ts';
import { endWith } from './response-stream.ts';

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

export interface HttpAccessParts {
  /** Where MCP is served. */
  readonly path: string;
  readonly guard: Guard;
  readonly admission: Admission;
  readonly backend: Pick<Backend, 'isClosing'>;
  readonly verifier: TokenVerifier | undefined;
  readonly openRoutes?: OpenRoutes | undefined;
  /** Other paths that are admitted as `path` is. */
  readonly isAlias?: ((path: string) => boolean) | undefined;
  /** Returns the address of MCP for the sender of these headers, for metadata that does not name it. */
  readonly resource?: ((headers: IncomingHttpHeaders) => string | undefined) | undefined;
}

/** Called for a request that may be served. */
export type Enter = (principal: string, caller: Caller) => void;

export class HttpAccess {
  readonly #parts: HttpAccessParts;

  constructor(parts: HttpAccessParts) {
    this.#parts = parts;
  }

  /** Answers a request, or calls `enter` if MCP may answer it. */
  check(request: McpRequest, response: McpResponse, path: string, enter: Enter): void {
    const { guard, backend, openRoutes } = this.#parts;
    const place = guard.refusePlace(request.headers);
    if (place !== undefined) {
      refuse(response, place.status, place.message);
      return;
    }
    const route = path === this.#parts.path ? undefined : openRoutes?.route(path);
    if (route !== undefined) {
      this.#answerOpenly(request, response, route);
      return;
    }
    // The metadata that shows clients how to get a token needs no token itself.
    if (request.method === 'GET' && this.#isMetadata(path)) {
      endWith(response, 200, JSON.stringify(this.#metadata(request.headers)));
      return;
    }
    if (backend.isClosing) {
      response.setHeader('connection', 'close');
      refuse(response, 503, 'This server is closing');
      return;
    }
    const verdict = guard.identify(request.headers);
    if (verdict instanceof Promise)
      verdict.then(
        (late) => this.#admit(response, path, late, enter),
        () => refuse(response, 500, 'The token could not be verified'),
      );
    else this.#admit(response, path, verdict, enter);
  }

  #isMetadata(path: string): boolean {
    const { verifier } = this.#parts;
    return verifier?.metadata !== undefined && path.startsWith(verifier.metadataPath ?? METADATA_PATH);
  }

  #metadata(headers: IncomingHttpHeaders): Readonly<Record<string, unknown>> {
    const { verifier, resource } = this.#parts;
    return { ...(resource === undefined ? {} : { resource: resource(headers) }), ...verifier?.metadata };
  }

  #answerOpenly(request: McpRequest, response: McpResponse, route: OpenRoute): void {
    const { guard, admission, path } = this.#parts;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      refuse(response, 405, 'This route uses GET');
      return;
    }
    const answer = (verdict: AuthResult | undefined): void => {
      const isCaller = verdict !== undefined && 'principal' in verdict;
      const admitted = isCaller ? admission.admit(verdict, path) : undefined;
      const { status, type, text } = route.answer(typeof admitted === 'string' ? admitted : undefined);
      response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
      response.end(request.method === 'HEAD' ? undefined : text);
    };
    const verdict = route.identifies ? guard.identify(request.headers) : undefined;
    if (verdict instanceof Promise)
      verdict.then(answer, () => refuse(response, 500, 'The token could not be verified'));
    else answer(verdict);
  }

  #admit(response: McpResponse, path: string, verdict: AuthResult, enter: Enter): void {
    const { admission, isAlias } = this.#parts;
    const asked = isAlias?.(path) === true ? this.#parts.path : path;
    const admitted = 'principal' in verdict ? admission.admit(verdict, asked) : verdict;
    if (admitted === undefined) refuse(response, 404, `MCP is served at ${this.#parts.path}.`);
    else if (typeof admitted !== 'string') {
      for (const [header, value] of Object.entries(admitted.headers ?? {})) response.setHeader(header, value);
      if (admitted.status === 401) refuseToken(response, admitted.message);
      else refuse(response, admitted.status, admitted.message);
    } else if ('principal' in verdict) enter(admitted, verdict);
  }
}

/** Answers in the form of OAuth errors (RFC 6749): clients that try to log in here parse nothing else. */
function refuseToken(response: McpResponse, message: string): void {
  endWith(response, 401, JSON.stringify({ error: 'invalid_token', error_description: message }));
}

/** Admits every authenticated client at one path. */
export function openAdmission(mcpPath: string, named?: NamedTokens): Admission {
  return {
    admit: ({ principal }, path) => (path === mcpPath ? principal : undefined),
    bindingOf: (principal) => named?.bindingOf(principal) ?? '',
    onEnd: (listener) => named?.onEnd(listener) ?? (() => {}),
  };
}
