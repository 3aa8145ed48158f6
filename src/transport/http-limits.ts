/** How much and how long an HTTP transport takes from a server before it gives up on a request. */

const KIB = 1024;
const MIB = 1024 * KIB;

export interface HttpLimits {
  /** Name lookup, TCP and TLS together. */
  readonly connectMs: number;
  /**
   * From the first byte of a response to the end of its headers. For messages that nobody waits long for
   * (notifications, answers, opening a stream) it counts from the sending on; for a request the caller's
   * signal does, because a server that answers with JSON is silent until its tool is done.
   */
  readonly headersMs: number;
  /** A JSON body has to bring at least `bodyWindowBytes` in each window of `bodyWindowMs`. */
  readonly bodyWindowMs: number;
  readonly bodyWindowBytes: number;
  /** One JSON body, after decompression. */
  readonly maxBodyBytes: number;
  /** One event of a stream, after decompression. */
  readonly maxEventBytes: number;
  /** All events of one connection of a stream together, after decompression. */
  readonly maxStreamBytes: number;
  /** How long a stream may stay open after it brought the answer, before its socket is taken back. */
  readonly lingerMs: number;
  /** The wait before a broken stream is taken up again, doubled each time up to the largest. */
  readonly resumeDelayMs: number;
  readonly maxResumeDelayMs: number;
  /** Attempts in a row that may bring nothing new. */
  readonly maxResumes: number;
  /** What ending a session may take of `close()`. */
  readonly closeMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  connectMs: 10_000,
  headersMs: 30_000,
  bodyWindowMs: 60_000,
  bodyWindowBytes: KIB,
  maxBodyBytes: 64 * MIB,
  maxEventBytes: 64 * MIB,
  maxStreamBytes: 256 * MIB,
  lingerMs: 5_000,
  resumeDelayMs: 500,
  maxResumeDelayMs: 30_000,
  maxResumes: 5,
  closeMs: 1_000,
};

/** What is read of a body that only explains a status. */
export const MAX_ERROR_BODY_BYTES: number = 64 * KIB;

/** Redirects followed within one origin for one request. */
export const MAX_REDIRECTS = 5;

/** Sockets one transport opens to its server: each request that waits holds one. */
export const MAX_CONNECTIONS = 128;

/** When TCP begins to ask whether a silent peer is still there. */
export const TCP_KEEP_ALIVE_MS = 15_000;

/** The longest pause that a server can ask of us with `retry:` or Retry-After. */
export const MAX_ASKED_DELAY_MS: number = 15 * 60_000;
