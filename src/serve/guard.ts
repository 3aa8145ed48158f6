/** Who may talk to a gateway on this machine: the right Host, no foreign Origin, and the token when there is one. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

export function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.includes(host) || host === '::1';
}

export interface Refusal {
  readonly status: 401 | 403;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface GuardOptions {
  /** The port we listen on: a page served from another port is as foreign as any other. */
  readonly port: number;
  readonly token?: string | undefined;
}

/** Undefined when the request may go on. A rebound DNS name fails on Host, a web page on Origin. */
export function refuse(headers: IncomingHttpHeaders, { port, token }: GuardOptions): Refusal | undefined {
  const ours = LOOPBACK_NAMES.map((name) => `${name}:${port}`);
  if (!ours.includes((headers.host ?? '').toLowerCase())) {
    return { status: 403, message: 'This Host is not served here.' };
  }
  const { origin } = headers;
  if (origin !== undefined && !ours.some((host) => origin.toLowerCase() === `http://${host}`)) {
    return { status: 403, message: 'Requests from other origins are refused.' };
  }
  if (token !== undefined && !equal(headers.authorization ?? '', `Bearer ${token}`)) {
    return { status: 401, message: 'A bearer token is needed.', headers: { 'www-authenticate': 'Bearer' } };
  }
  return undefined;
}

/** Takes the same time wherever two texts differ; the digests also hide their lengths. */
function equal(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
