/** Who may talk to an endpoint: the right Host, no foreign Origin, and what proves who it is (A8, A9). */

import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

export function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.includes(host) || host === '::1';
}

/** Knows the tokens of somebody else, an authorization server's for example. */
export interface TokenVerifier {
  /** Who the token stands for; undefined when it is not good here. */
  principalOf(token: string): Promise<string | undefined>;
  /** Where clients learn which issuer to ask, on this server. */
  readonly metadataPath: string;
  /** The same as clients reach it, where that is known; else it is below the Host that they name. */
  readonly metadataUrl?: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Tokens with a name each, which may end while we serve. */
export interface NamedTokens {
  /** The name of a valid token; undefined if it is unknown, revoked or expired. */
  nameOf(token: string): string | undefined;
  /** What ids of sessions are bound to, besides the name: a later token of the same name does not continue them. */
  bindingOf(name: string): string;
  /** Called with the name of each token that was revoked or has expired, until the returned function is called. */
  onEnd(listener: (name: string) => void): () => void;
}

export interface Refusal {
  readonly status: 401 | 403;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Verdict = Refusal | { readonly principal: string };

export interface GuardOptions {
  /** Whether we listen on this machine only: then our names are known. */
  readonly local: boolean;
  readonly token: string | undefined;
  /** Accepted besides `token`; the principal is the name. */
  readonly named?: NamedTokens | undefined;
  /** Message of a refusal. */
  readonly needed?: string | undefined;
  /** Checks the tokens of an issuer, in place of a token of our own. */
  readonly verifier: TokenVerifier | undefined;
}

export class Guard {
  readonly #options: GuardOptions;
  readonly #expected: Buffer | undefined;
  #names: readonly string[] = [];
  #origins: readonly string[] = [];

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#expected = options.token === undefined ? undefined : Buffer.from(`Bearer ${options.token}`);
  }

  /** The port is known once we listen: a page served from another one is as foreign as any other. */
  listensOn(port: number): void {
    this.#names = LOOPBACK_NAMES.map((name) => `${name}:${port}`);
    this.#origins = this.#names.map((name) => `http://${name}`);
  }

  /** A rebound DNS name fails on Host, a web page on Origin; undefined when the request comes from where it may. */
  refusePlace({ host = '', origin }: IncomingHttpHeaders): Refusal | undefined {
    const { local } = this.#options;
    if (local && !this.#names.includes(host.toLowerCase())) {
      return { status: 403, message: 'This Host is not served here.' };
    }
    if (origin === undefined) return undefined;
    // Far away our own name is whatever the proxy in front of us says; a page of that same name may ask.
    const ours = local ? this.#origins : [`http://${host}`, `https://${host}`];
    if (ours.includes(origin.toLowerCase())) return undefined;
    return { status: 403, message: 'Requests from other origins are refused.' };
  }

  /** Who it is. Only a token of an issuer has to be waited for. */
  identify(headers: IncomingHttpHeaders): Verdict | Promise<Verdict> {
    const { authorization = '' } = headers;
    const { verifier, named, needed = 'A bearer token is needed.' } = this.#options;
    if (this.#expected !== undefined && equal(authorization, this.#expected)) return { principal: 'token' };
    const name = named?.nameOf(bearerOf(authorization) ?? '');
    if (name !== undefined) return { principal: name };
    if (verifier !== undefined) return this.#verified(verifier, headers);
    if (this.#expected === undefined && named === undefined) return { principal: 'local' };
    return {
      status: 401,
      message: needed,
      headers: { 'www-authenticate': 'Bearer' },
    };
  }

  async #verified(verifier: TokenVerifier, headers: IncomingHttpHeaders): Promise<Verdict> {
    const token = bearerOf(headers.authorization ?? '');
    const principal = token === undefined ? undefined : await verifier.principalOf(token);
    if (principal !== undefined) return { principal };
    const metadata = verifier.metadataUrl ?? urlBelowHost(headers, verifier.metadataPath);
    const challenge = [
      ...(metadata === undefined ? [] : [`resource_metadata="${metadata}"`]),
      ...(token === undefined ? [] : ['error="invalid_token"']),
    ];
    return {
      status: 401,
      message: 'A valid token of the configured issuer for this audience is needed.',
      headers: { 'www-authenticate': `Bearer ${challenge.join(', ')}`.trimEnd() },
    };
  }
}

/** Undefined for a Host that is none. */
function urlBelowHost(headers: IncomingHttpHeaders, path: string): string | undefined {
  const { host = '', 'x-forwarded-proto': forwarded } = headers;
  if (!/^[\w.:[\]-]+$/.test(host)) return undefined;
  return `${forwarded === 'https' ? 'https' : 'http'}://${host}${path}`;
}

function bearerOf(authorization: string): string | undefined {
  return /^Bearer (\S+)$/i.exec(authorization)?.[1];
}

/** Takes the same time wherever two texts of the same length differ; the length is no secret. */
function equal(given: string, expected: Buffer): boolean {
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
