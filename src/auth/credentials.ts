/** The interface between remote transports and authentication. */

/** A 401 or 403 response that asks for other credentials or more scopes. */
export interface Challenge {
  readonly status: 401 | 403;
  /** The unmodified `WWW-Authenticate` header. */
  readonly wwwAuthenticate: string | undefined;
  /** The `Authorization` value that was refused; distinguishes a late challenge from a new one. */
  readonly refused: string | undefined;
  /** The `DPoP-Nonce` header of the response, if present: the next proof must include it. */
  readonly dpopNonce?: string | undefined;
}

/** The request that the headers are for; only DPoP-bound tokens use it. */
export interface RequestLine {
  readonly method: string;
  readonly url: string;
}

export interface Credentials {
  /**
   * Returns headers for the next request to the server's own origin; synchronous if nothing must be fetched.
   * Without `line`, a POST to the server's url is assumed. Call it for each request: a proof is used once.
   */
  headers(
    signal?: AbortSignal,
    line?: RequestLine,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /**
   * Handles a challenge. Resolves if the request should be repeated with new `headers()`; otherwise rejects with
   * NEEDS_AUTH, NEEDS_CLIENT_REGISTRATION or AUTH_FAILED.
   */
  challenged(challenge: Challenge, signal?: AbortSignal): Promise<void>;
}
