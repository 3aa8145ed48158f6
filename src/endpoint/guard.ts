/** Auth guard of an endpoint: checks the Host, the Origin, and the bearer token (A8, A9). */

import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { METADATA_PATH } from './http-paths.ts';

const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

export function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.includes(host) || host === '::1';
}

/**
 * Verifies tokens issued by another party, such as an authorization server.
 *
 * @example
 * const verifier: TokenVerifier = {
 *   principalOf: async (token) => {
 *     const user = await database.userOf(token);
 *     return user && { principal: user.id, scopes: user.scopes, claims: { team: user.team } };
 *   },
 *   metadata: { authorization_servers: ['https://login.example.com'] },
 * };
 */
export interface TokenVerifier {
  /**
   * Returns the principal of a token, alone or with its claims and scopes, or why a valid token is refused; undefined
   * if it is not valid here. A rejected promise is answered with status 500.
   */
  principalOf(token: string): Promise<string | Caller | Refusal | undefined>;
  /** The path on this server of the metadata that names the issuer. Default: `/.well-known/oauth-protected-resource`. */
  readonly metadataPath?: string | undefined;
  /** The metadata's address as clients reach it, if known; else it is derived from the Host that they send. */
  readonly metadataUrl?: string | undefined;
  /** The metadata of RFC 9728, if clients can log in; `resource` is added where it is missing. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** Named tokens, which may expire or be revoked while we serve. */
export interface NamedTokens {
  /** Returns the name of a valid token; undefined if it is unknown, revoked or expired. */
  nameOf(token: string): string | undefined;
  /**
   * Returns the value that session ids are bound to, besides the name: a later token of the same name does not
   * continue them.
   */
  bindingOf(name: string): string;
  /** Called with the name of each token that was revoked or has expired, until the returned function is called. */
  onEnd(listener: (name: string) => void): () => void;
}

/** An authenticated client. */
export interface Caller {
  /** Data of one principal is never shown to another. */
  readonly principal: string;
  /** The name of the client in the configuration, if it is another one. */
  readonly client?: string | undefined;
  /** The claims of its token. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** The scopes of its token. Undefined: no verifier has identified it, so scopes do not limit it. */
  readonly scopes?: readonly string[] | undefined;
}

/** Decides what an authenticated client may use, and when that ends. */
export interface Admission {
  /** Returns the principal of a client at an address; undefined if nothing is served there. */
  admit(caller: Caller, path: string): string | Refusal | undefined;
  /** As `bindingOf` of named tokens, for a principal. */
  bindingOf(principal: string): string;
  /** Called with each principal whose work must end, until the returned function is called. */
  onEnd(listener: (principal: string) => void): () => void;
}

/** The response to a client that is not admitted. */
export interface Refusal {
  readonly status: 401 | 403 | 404;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type AuthResult = Refusal | Caller;

export interface GuardOptions {
  /** Whether we listen on the loopback interface only: then our Host names are known. */
  readonly local: boolean;
  readonly token: string | undefined;
  /** Accepted besides `token`; the principal is the name. */
  readonly named?: NamedTokens | undefined;
  /** Requests without an Authorization header are those of the local user; a presented token must still be valid. */
  readonly optional?: boolean | undefined;
  /** Message of a refusal. */
  readonly needed?: string | undefined;
  /** Verifies tokens of an issuer, in place of our own token. */
  readonly verifier: TokenVerifier | undefined;
  /** Accepts a `Host` besides those of the loopback interface. */
  readonly isOurHost?: ((host: string) => boolean) | undefined;
  /** Message for other hosts. */
  readonly unknownHost?: string | undefined;
  /** Accepts an `Origin` besides our own. */
  readonly isKnownOrigin?: ((origin: string) => boolean) | undefined;
  /** Returns the address of the verifier's metadata for the sender of these headers; default: by its `Host`. */
  readonly metadataUrl?: ((headers: IncomingHttpHeaders) => string | undefined) | undefined;
}

const TOKEN: AuthResult = { principal: 'token' };
const LOCAL: AuthResult = { principal: 'local' };

export class Guard {
  readonly #options: GuardOptions;
  readonly #expected: Buffer | undefined;
  #names: readonly string[] = [];
  #origins: readonly string[] = [];

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#expected = options.token === undefined ? undefined : Buffer.from(`Bearer ${options.token}`);
  }

  /** Sets the port once we listen: a page served from another port is a foreign origin. */
  listensOn(port: number): void {
    this.#names = LOOPBACK_NAMES.map((name) => `${name}:${port}`);
    this.#origins = this.#names.map((name) => `http://${name}`);
  }

  /** Rejects a rebound DNS name by its Host, and a web page by its Origin; undefined if the request is allowed. */
  refusePlace({ host = '', origin }: IncomingHttpHeaders): Refusal | undefined {
    const { local, isOurHost, isKnownOrigin } = this.#options;
    if (local && !this.#names.includes(host.toLowerCase()) && isOurHost?.(host.toLowerCase()) !== true) {
      const { unknownHost = 'This Host is not served here.' } = this.#options;
      return { status: 403, message: unknownHost };
    }
    if (origin === undefined) return undefined;
    // On other interfaces our name is the Host that a proxy forwards; a page of that same name may send requests.
    const isListed = local && this.#names.includes(host.toLowerCase());
    const ours = isListed ? this.#origins : [`http://${host}`, `https://${host}`];
    if (ours.includes(origin.toLowerCase()) || isKnownOrigin?.(origin.toLowerCase()) === true)
      return undefined;
    return { status: 403, message: 'Requests from other origins are refused.' };
  }

  /** Returns the principal. Asynchronous only for a token of an issuer. */
  identify(headers: IncomingHttpHeaders): AuthResult | Promise<AuthResult> {
    const { authorization = '' } = headers;
    const { verifier, named, needed = 'A bearer token is needed.' } = this.#options;
    // The name of the scheme is not case-sensitive.
    const sent = authorization.startsWith('Bearer ')
      ? authorization
      : authorization.replace(/^bearer /i, 'Bearer ');
    if (this.#expected !== undefined && equal(sent, this.#expected)) return TOKEN;
    const name = named?.nameOf(bearerOf(authorization) ?? '');
    if (name !== undefined) return { principal: name };
    if (verifier !== undefined) return this.#verified(verifier, headers);
    const isNoneNeeded = this.#expected === undefined && named === undefined;
    if (isNoneNeeded || (this.#options.optional === true && authorization === '')) return LOCAL;
    return {
      status: 401,
      message: needed,
      headers: { 'www-authenticate': 'Bearer' },
    };
  }

  async #verified(verifier: TokenVerifier, headers: IncomingHttpHeaders): Promise<AuthResult> {
    const token = bearerOf(headers.authorization ?? '');
    const principal = token === undefined ? undefined : await verifier.principalOf(token);
    if (principal !== undefined) {
      const known = typeof principal === 'string' ? { principal } : principal;
      return 'status' in known ? known : { ...known, scopes: known.scopes ?? [] };
    }
    const metadata = verifier.metadata && this.#metadataUrl(verifier, headers);
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

  #metadataUrl(verifier: TokenVerifier, headers: IncomingHttpHeaders): string | undefined {
    const { metadataUrl, metadataPath = METADATA_PATH } = verifier;
    return this.#options.metadataUrl?.(headers) ?? metadataUrl ?? urlBelowHost(headers, metadataPath);
  }
}

/** Returns undefined for an invalid Host. */
function urlBelowHost(headers: IncomingHttpHeaders, path: string): string | undefined {
  const { host = '', 'x-forwarded-proto': forwarded } = headers;
  if (!/^[\w.:[\]-]+$/.test(host)) return undefined;
  return `${forwarded === 'https' ? 'https' : 'http'}://${host}${path}`;
}

function bearerOf(authorization: string): string | undefined {
  return /^Bearer (\S+)$/i.exec(authorization)?.[1];
}

/** Compares in constant time for texts of the same length; the length is not secret. */
function equal(given: string, expected: Buffer): boolean {
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
