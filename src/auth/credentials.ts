/** What a remote transport needs to know about who we are to a server; how that is found out is behind it. */

/** What the server answered when it wanted somebody else, or more rights. */
export interface Challenge {
  readonly status: 401 | 403;
  /** The `WWW-Authenticate` header as it came. */
  readonly wwwAuthenticate: string | undefined;
  /** The `Authorization` value that was refused; tells a late challenge from a new one. */
  readonly refused: string | undefined;
  /** The `DPoP-Nonce` header, where the answer had one: the next proof has to carry it. */
  readonly dpopNonce?: string | undefined;
}

/** The request that headers are wanted for; only tokens bound to a key (DPoP) look at it. */
export interface RequestLine {
  readonly method: string;
  readonly url: string;
}

export interface Credentials {
  /**
   * Headers for the next request to the server's own origin. Synchronous while nothing has to be fetched.
   * Without a `line` a POST to the server's url is meant. Ask again for each request: a proof is used once.
   */
  headers(
    signal?: AbortSignal,
    line?: RequestLine,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /**
   * Called after a challenge. Resolves when a repeat with fresh `headers()` makes sense; rejects with
   * NEEDS_AUTH, NEEDS_CLIENT_REGISTRATION or AUTH_FAILED when it does not.
   */
  challenged(challenge: Challenge, signal?: AbortSignal): Promise<void>;
}
