/** Options of a server over HTTP. */

import type { TokenVerifier } from '../endpoint/guard.ts';
import { PlugboardError } from '../errors.ts';

/** Which web pages may send requests. */
export interface CorsOptions {
  /** Origins such as `https://app.example.com`, or `'*'` for all. */
  readonly origins: readonly string[] | '*';
  /** Whether cookies and client certificates may be sent; not with `'*'`. */
  readonly credentials?: boolean | undefined;
  /** How long a browser may cache the answer, in seconds. Default: a day. */
  readonly maxAgeS?: number | undefined;
}

/** Answers a request at a path of the author's own. */
export type Route = (request: Request) => Response | Promise<Response>;

/** Options of `http()` and `server.handler()`. */
export interface WebOptions {
  /** The path of MCP, where the request's path is seen. Default `/mcp`. */
  readonly path?: string | undefined;
  /** If given, every request must carry it as its bearer token. */
  readonly token?: string | undefined;
  /** If given, tokens that it verifies are accepted, each with its principal, claims and scopes. */
  readonly verifier?: TokenVerifier | undefined;
  /**
   * The address of MCP as clients reach it, `https://example.com/mcp`: for absolute urls in metadata and challenges
   * behind a proxy or under a prefix. Its host is accepted as a `Host`. Default: derived from each request.
   */
  readonly url?: string | undefined;
  /** Whether `X-Forwarded-Proto` and `X-Forwarded-Host` are those of a proxy that overwrites them. Default false. */
  readonly trustProxy?: boolean | undefined;
  /** Accepted values of `Host` besides loopback names and the host of `url`; `'*'` accepts all. */
  readonly hosts?: readonly string[] | '*' | undefined;
  /** Web pages of other origins that may send requests; `true`: all of them. Default: none. */
  readonly cors?: boolean | CorsOptions | undefined;
  /** A path that answers `{"status":"ok"}`, and 503 while the server closes; `true`: `/health`. Default: none. */
  readonly health?: boolean | string | undefined;
  /** Routes of your own, by path, or by method and path: `'GET /version'`. They need no token. */
  readonly routes?: Readonly<Record<string, Route>> | undefined;
  /** Largest body of a request, in bytes. Default 16 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * Most legacy sessions in memory; the least recently used idle one makes room. 0: each request of a legacy client is
   * served by itself, for runtimes that keep no memory between requests; then it cannot be asked. Default 10,000.
   */
  readonly maxSessions?: number | undefined;
}

const HEALTH_PATH = '/health';

/** Throws for options that could never work. */
export function checkWebOptions({ path, url, cors, routes = {}, ...options }: WebOptions): void {
  if (path !== undefined && !/^\/[^?#]*$/.test(path)) {
    throw new PlugboardError('USAGE', `${JSON.stringify(path)} is not a path`, {
      hint: 'Begin it with a slash, as in /mcp.',
    });
  }
  if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw new PlugboardError('USAGE', `${JSON.stringify(url)} is not the address of a server`, {
      hint: 'Give the whole address, as in https://example.com/mcp.',
    });
  }
  if (typeof cors === 'object' && cors.credentials === true && cors.origins === '*') {
    throw new PlugboardError('USAGE', 'Browsers refuse credentials for all origins', {
      hint: 'List the origins that may send them.',
    });
  }
  const bad = Object.keys(routes).find((key) => !ROUTE.test(key));
  if (bad !== undefined) {
    throw new PlugboardError('USAGE', `${JSON.stringify(bad)} is not a route`, {
      hint: 'Write a path, or a method and a path, as in GET /version.',
    });
  }
  for (const name of ['maxBodyBytes', 'maxSessions'] as const) {
    const value = options[name];
    if (value === undefined || (Number.isInteger(value) && value >= 0)) continue;
    throw new PlugboardError('USAGE', `${name} must be a whole number, not ${String(value)}`);
  }
}

/** An optional method and a path. */
const ROUTE = /^(?:([A-Z]+) )?(\/[^?#\s]*)$/;

/** Splits the key of a route. */
export function routeOf(key: string): { readonly method: string | undefined; readonly path: string } {
  const [, method, path = key] = ROUTE.exec(key) ?? [];
  return { method, path };
}

export function healthPathOf({ health }: WebOptions): string | undefined {
  if (health === true) return HEALTH_PATH;
  return health === false ? undefined : health;
}
