/** Requests to addresses that a server named: checked, bounded, pinned to the address that was checked. */

import { lookup as systemLookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { PlugboardError } from '../errors.ts';
import { type EgressOptions, egressRules } from './egress.ts';

/** From the first byte of the request to the last of its answer. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Metadata documents and token answers are a few kilobytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

type Addresses = readonly { readonly address: string; readonly family: number }[];

export type Resolver = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: Error | null, addresses: Addresses) => void,
) => void;

export interface EgressFetchOptions extends EgressOptions {
  readonly signal?: AbortSignal | undefined;
  /** How names become addresses; the system's resolver unless a test says otherwise. */
  readonly resolve?: Resolver | undefined;
  readonly timeoutMs?: number | undefined;
}

export type EgressFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` for addresses out of a server's mouth. It never follows a redirect: whoever does comes back here
 * with the next address, which is checked like the first.
 */
export function egressFetch(options: EgressFetchOptions): EgressFetch {
  const rules = egressRules(options);
  const resolve: Resolver = options.resolve ?? systemLookup;
  /** By origin: addresses that were checked, for all requests until one of them cannot be reached. */
  const checked = new Map<string, Addresses>();

  return async (target, init = {}) => {
    const url = rules.check(target);
    let verdict: PlugboardError | undefined;
    // The connection uses the very addresses that were checked: a second answer of the resolver cannot slip in.
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
    try {
      return await exchange(url, init, lookup, AbortSignal.any(limits));
    } catch (error) {
      checked.delete(url.origin);
      throw verdict ?? unreachable(url, error, timeout.aborted, options.signal);
    }
  };
}

async function exchange(
  url: URL,
  init: RequestInit,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<Response> {
  const body = bodyText(init.body);
  const headers = Object.fromEntries(new Headers(init.headers));
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(url, {
      method: init.method ?? 'GET',
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
        ...(init.body instanceof URLSearchParams
          ? { 'content-type': 'application/x-www-form-urlencoded' }
          : {}),
        ...headers,
      },
      lookup,
      signal,
      agent: false,
    });
    request.once('response', resolve);
    request.once('error', reject);
    request.end(body);
  });
  const bytes = await collect(answer);
  const status = answer.statusCode ?? 502;
  const bodyless = status === 204 || status === 205 || status === 304;
  return new Response(bodyless ? null : new Uint8Array(decode(bytes, answer.headers['content-encoding'])), {
    status,
    headers: plainHeaders(answer),
  });
}

async function collect(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
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
    if (name === 'content-encoding' || name === 'content-length') continue;
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
  return new PlugboardError('LIMIT_EXCEEDED', 'The answer of the authorization server is too long.');
}

/** A sentence without the url's path and query, which may hold a code or a token. */
function unreachable(
  url: URL,
  error: unknown,
  timedOut: boolean,
  signal: AbortSignal | undefined,
): PlugboardError {
  if (error instanceof PlugboardError) return error;
  if (signal?.aborted) return new PlugboardError('CANCELLED', 'The login was cancelled.', { cause: error });
  return new PlugboardError(
    timedOut ? 'TIMEOUT' : 'CONNECT_FAILED',
    timedOut
      ? `${url.origin} did not answer in time.`
      : `${url.origin} could not be reached${reason(error)}.`,
    { hint: 'Check the network, then try again.', cause: error },
  );
}

function reason(error: unknown): string {
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return code === undefined ? '' : ` (${code})`;
}
