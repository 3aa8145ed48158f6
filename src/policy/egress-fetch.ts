/** Sends requests to addresses provided by a server: checked, bounded, pinned to the resolved address. */

import { lookup as systemLookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import { type EgressOptions, egressRules } from './egress.ts';
import { bytesOf, type FetchFunction, type Network } from './network.ts';
import type { ProxyServer } from './proxy.ts';

/** For the whole request, including the response body. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Metadata documents and token responses are a few kilobytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** The body is already decoded, so these headers no longer apply. */
const ABOUT_ENCODING: ReadonlySet<string> = new Set(['content-encoding', 'content-length']);

type Addresses = readonly { readonly address: string; readonly family: number }[];

export type Resolver = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: Error | null, addresses: Addresses) => void,
) => void;

export interface EgressFetchOptions extends EgressOptions {
  readonly signal?: AbortSignal | undefined;
  /** Resolves host names; default: the system's resolver. */
  readonly resolve?: Resolver | undefined;
  readonly timeoutMs?: number | undefined;
  /** Proxies, certificates or a `fetch` of the host; default: direct connections. */
  readonly network?: Network | undefined;
  /** The entry's `proxy` setting. */
  readonly proxy?: boolean | undefined;
}

export type EgressFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Creates a `fetch` for addresses provided by a server. It never follows a redirect: the caller has to request the next
 * address here, where it is checked like the first.
 */
export function egressFetch(options: EgressFetchOptions): EgressFetch {
  const rules = egressRules(options);
  const resolve: Resolver = options.resolve ?? systemLookup;
  /** By origin: checked addresses, reused until one of them cannot be reached. */
  const checked = new Map<string, Addresses>();

  return async (target, init = {}) => {
    const url = rules.check(target);
    let verdict: PlugboardError | undefined;
    // Connects to exactly the addresses that were checked: a second DNS answer cannot replace them (DNS rebinding).
    const lookup: LookupFunction = (hostname, lookupOptions, callback) => {
      const known = checked.get(url.origin);
      const ask: Resolver =
        known === undefined ? resolve : (_hostname, _options, answer) => answer(null, known);
      ask(hostname, { all: true }, (error, addresses) => {
        const first = addresses?.[0];
        if (error !== null || first === undefined) {
          callback(error ?? new Error('no address'), '', 0);
          return;
        }
        try {
          for (const { address } of addresses) rules.checkAddress(url, address);
        } catch (refusal) {
          verdict = refusal as PlugboardError;
          callback(verdict, '', 0);
          return;
        }
        checked.set(url.origin, addresses);
        if (lookupOptions.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      });
    };
    const timeout = AbortSignal.timeout(options.timeoutMs ?? REQUEST_TIMEOUT_MS);
    const limits = [timeout];
    if (options.signal) limits.push(options.signal);
    if (init.signal) limits.push(init.signal);
    const signal = AbortSignal.any(limits);
    try {
      const { network } = options;
      if (network?.fetch !== undefined) return await given(network.fetch, url, init, signal);
      const proxy = network?.proxyFor(url, options.proxy);
      const secureContext = url.protocol === 'https:' ? network?.secureContext() : undefined;
      const connection =
        proxy === undefined ? { lookup, agent: false as const } : await viaProxy(proxy, url, network, signal);
      return await exchange(url, init, { ...connection, secureContext, signal });
    } catch (error) {
      checked.delete(url.origin);
      throw verdict ?? unreachable(url, error, timeout.aborted, options.signal);
    }
  };
}

/** Uses the author's `fetch`, which resolves names and connects itself; the url was checked before. */
async function given(
  fetch: FetchFunction,
  url: URL,
  init: RequestInit,
  signal: AbortSignal,
): Promise<Response> {
  const body = bodyText(init.body);
  const answer = await fetch(url.href, {
    method: init.method ?? 'GET',
    headers: requestHeaders(init),
    ...(body === undefined ? {} : { body }),
    redirect: 'manual',
    signal,
  });
  const bytes = await collect(bytesOf(answer));
  const headers = new Headers();
  answer.headers.forEach((value, name) => {
    if (!ABOUT_ENCODING.has(name)) headers.append(name, value);
  });
  return new Response(isBodyless(answer.status) ? null : new Uint8Array(bytes), {
    status: answer.status,
    headers,
  });
}

function requestHeaders(init: RequestInit): Record<string, string> {
  return {
    accept: 'application/json',
    ...(init.body instanceof URLSearchParams ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    ...Object.fromEntries(new Headers(init.headers)),
  };
}

interface ConnectionOptions {
  readonly lookup?: LookupFunction | undefined;
  readonly agent?: false | undefined;
  readonly createConnection?: (() => Socket) | undefined;
  /** Set for a proxy that does not open tunnels; it gets the whole url. */
  readonly forwarder?: ProxyServer | undefined;
  readonly secureContext?: SecureContext | undefined;
  readonly signal: AbortSignal;
}

/**
 * Connects through a proxy. The proxy resolves the name, so its address cannot be checked here. Everything but the
 * origins that the user named is https (`egressRules`), and a machine inside the proxy's network has no certificate for
 * an attacker's name.
 */
async function viaProxy(
  proxy: ProxyServer,
  url: URL,
  network: Network | undefined,
  signal: AbortSignal,
): Promise<Pick<ConnectionOptions, 'createConnection' | 'forwarder'>> {
  const { openRoute } = await import('./proxy-tunnel.ts');
  const secureContext = network?.secureContext();
  const route = await openRoute(proxy, url, { secureContext, signal });
  if (route.kind === 'forward') return { forwarder: proxy };
  return { createConnection: () => route.socket };
}

async function exchange(
  url: URL,
  init: RequestInit,
  { forwarder, signal, ...connection }: ConnectionOptions,
): Promise<Response> {
  const body = bodyText(init.body);
  const scheme = (forwarder?.url ?? url).protocol;
  const send = scheme === 'https:' ? httpsRequest : httpRequest;
  // Without the proxy's user name and password, which Node would send as credentials for the server.
  const address = forwarder === undefined ? url : new URL(forwarder.url.origin);
  const ofProxy =
    forwarder === undefined
      ? {}
      : {
          host: url.host,
          ...(forwarder.authorization === undefined
            ? {}
            : { 'proxy-authorization': forwarder.authorization }),
        };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(address, {
      ...(forwarder === undefined ? {} : { path: url.href, agent: false }),
      method: init.method ?? 'GET',
      headers: {
        'accept-encoding': 'identity',
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
        ...requestHeaders(init),
        ...ofProxy,
      },
      ...connection,
      signal,
    });
    request.once('response', resolve);
    request.once('error', reject);
    request.end(body);
  });
  const bytes = await collect(answer);
  const status = answer.statusCode ?? 502;
  if (status === 407 && forwarder !== undefined) {
    throw (await import('./proxy-tunnel.ts')).proxyDenied(forwarder);
  }
  return new Response(
    isBodyless(status) ? null : new Uint8Array(decode(bytes, answer.headers['content-encoding'])),
    {
      status,
      headers: plainHeaders(answer),
    },
  );
}

type ByteStream = AsyncIterable<Uint8Array>;

function isBodyless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

async function collect(answer: ByteStream): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer, encoding: string | undefined): Buffer {
  const limit = { maxOutputLength: MAX_ANSWER_BYTES };
  switch (encoding?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(bytes, limit);
    case 'deflate':
      return inflateSync(bytes, limit);
    case 'br':
      return brotliDecompressSync(bytes, limit);
    default:
      return bytes;
  }
}

function plainHeaders(answer: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headersDistinct)) {
    if (ABOUT_ENCODING.has(name)) continue;
    for (const one of value ?? []) headers.append(name, one);
  }
  return headers;
}

function bodyText(body: RequestInit['body']): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('Only text and forms are sent.');
}

function tooLong(): PlugboardError {
  return new PlugboardError('LIMIT_EXCEEDED', 'The answer of the authorization server is too long');
}

/** Creates the error without the url's path and query, which may contain a code or a token. */
function unreachable(
  url: URL,
  error: unknown,
  timedOut: boolean,
  signal: AbortSignal | undefined,
): PlugboardError {
  if (error instanceof PlugboardError) return error;
  if (signal?.aborted) return new PlugboardError('CANCELLED', 'The login was cancelled', { cause: error });
  return new PlugboardError(
    timedOut ? 'TIMEOUT' : 'CONNECT_FAILED',
    timedOut ? `${url.origin} did not answer in time` : `${url.origin} could not be reached${reason(error)}`,
    {
      hint: /CERT|SIGNATURE/.test(errorCode(error) ?? '')
        ? 'For a private authority, set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE to its certificate file.'
        : 'Check the network, then try again.',
      cause: error,
    },
  );
}

function reason(error: unknown): string {
  const code = errorCode(error) ?? errorCode(error instanceof Error ? error.cause : undefined);
  return code === undefined ? '' : ` (${code})`;
}
