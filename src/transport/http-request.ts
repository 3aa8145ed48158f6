/** Sends one request: adds credentials, follows redirects within the origin, and retries once after a challenge. */

import type { Credentials } from '../auth/credentials.ts';
import { PlugboardError } from '../errors.ts';
import { unlessAborted } from '../lib/waits.ts';
import type { ProxyServer } from '../policy/proxy.ts';
import { accessError, type FailedResponse } from './http-errors.ts';
import { cancelled, type Exchange, type Head, type HttpRequest, readText } from './http-exchange.ts';
import { appendForeign, headerOf, headerValue, mediaType } from './http-headers.ts';
import { MAX_REDIRECTS } from './http-limits.ts';
import type { Wire } from './http-wire.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const INSUFFICIENT_SCOPE = /\berror\s*=\s*"?insufficient_scope"?/i;

/** A response that is neither a redirect nor a challenge that can still be answered. */
export interface Response {
  readonly head: Head;
  readonly exchange: Exchange;
}

/**
 * Sends a request and returns its final response, body unread. Each kind of challenge is answered once; after that 401
 * is NEEDS_AUTH, and 403 is left to the caller.
 */
export async function request(
  wire: Wire,
  wanted: HttpRequest,
  credentials: Credentials | undefined,
): Promise<Response> {
  const answered = new Set<number>();
  const gone = (): Error => cancelled(wanted.signal);
  const line = { method: wanted.method, url: new URL(wanted.path, wire.url).href };
  for (;;) {
    const own = credentials?.headers(wanted.signal, line);
    const foreign = own instanceof Promise ? await unlessAborted(own, wanted.signal, gone) : own;
    const headers = foreign === undefined ? wanted.headers : [...wanted.headers];
    if (foreign !== undefined) appendForeign(headers, foreign);
    const response = await follow(wire, { ...wanted, headers });
    const { status, headers: got } = response.head;
    if (status === 407 && wire.forwarder !== undefined) throw await proxyDenial(wire.forwarder, response);
    if (status !== 401 && status !== 403) return response;
    const wwwAuthenticate = headerValue(got, 'www-authenticate');
    const meant = status === 401 || INSUFFICIENT_SCOPE.test(wwwAuthenticate ?? '');
    if (!meant) return response;
    // Read to its end, so that the retry can reuse the socket.
    await readText(response.exchange);
    if (!credentials || answered.has(status)) throw accessError(status, wire.url.host);
    answered.add(status);
    const challenge = {
      status,
      wwwAuthenticate,
      refused: headerOf(headers, 'authorization'),
      dpopNonce: headerValue(got, 'dpop-nonce'),
    } as const;
    await unlessAborted(credentials.challenged(challenge, wanted.signal), wanted.signal, gone);
  }
}

async function proxyDenial(proxy: ProxyServer, { exchange }: Response): Promise<PlugboardError> {
  const { proxyDenied } = await import('../policy/proxy-tunnel.ts');
  const denied = proxyDenied(proxy);
  exchange.abort(denied);
  return denied;
}

async function follow(wire: Wire, wanted: HttpRequest): Promise<Response> {
  let path = wanted.path;
  for (let followed = 0; ; followed++) {
    const exchange = wire.start(path === wanted.path ? wanted : { ...wanted, path });
    const head = await exchange.head;
    if (!REDIRECTS.has(head.status)) return { head, exchange };
    const target = redirectTarget(headerValue(head.headers, 'location'), new URL(path, wire.url));
    // The next request has not been sent yet: a refusal here sends no headers, body or token.
    const refusal = refuse(wire.url, head.status, wanted.method, target, followed);
    if (refusal) {
      exchange.abort(refusal);
      throw refusal;
    }
    await readText(exchange);
    if (target) path = `${target.pathname}${target.search}`;
  }
}

function refuse(
  from: URL,
  httpStatus: number,
  method: string,
  target: URL | undefined,
  followed: number,
): PlugboardError | undefined {
  if (target === undefined) {
    return new PlugboardError(
      'CONNECT_FAILED',
      `${from.host} redirects without saying where to (HTTP ${httpStatus})`,
      {
        hint: 'Check the url of this server.',
        detail: { httpStatus },
      },
    );
  }
  if (target.origin !== from.origin || target.username || target.password) {
    return new PlugboardError(
      'EGRESS_REFUSED',
      `${from.host} redirects to another origin, ${target.origin}`,
      {
        hint: `If you trust it, set the url of this server to ${target.origin}${target.pathname}.`,
        detail: { httpStatus, permanent: true },
      },
    );
  }
  if (followed >= MAX_REDIRECTS) {
    return new PlugboardError('CONNECT_FAILED', `${from.host} redirects in a circle`, {
      hint: 'Check the url of this server.',
      detail: { httpStatus },
    });
  }
  if (method !== 'GET' && httpStatus !== 307 && httpStatus !== 308) {
    // Such a redirect would turn the message into a GET without its body.
    return new PlugboardError(
      'CONNECT_FAILED',
      `${from.host} redirects to ${target.pathname} (HTTP ${httpStatus})`,
      {
        hint: `Set the url of this server to ${target.origin}${target.pathname}.`,
        detail: { httpStatus },
      },
    );
  }
  return undefined;
}

function redirectTarget(location: string | undefined, from: URL): URL | undefined {
  return location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

/** Fetching credentials may take time; a cancelled request does not wait for it. */
/** Reads a response with a status outside 200–299, including its body. */
export async function readFailed({ head: { status, headers }, exchange }: Response): Promise<FailedResponse> {
  return {
    status,
    contentType: mediaType(headers),
    retryAfter: headerValue(headers, 'retry-after'),
    body: await readText(exchange),
  };
}
