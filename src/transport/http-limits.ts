/** Size and time limits of the HTTP transports. */

import { MAX_RESUMES, RESUME } from '../lib/retry.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

export interface HttpLimits {
  /** DNS, TCP and TLS together. */
  readonly connectMs: number;
  /**
   * From the first byte of a response to the end of its headers. For notifications, responses, opening a stream and all
   * messages of the SSE transport it starts when the message is sent. A request over streamable HTTP is limited by the
   * caller's signal instead, because a server that responds with JSON is silent until its tool has finished.
   */
  readonly headersMs: number;
  /** A JSON body must deliver at least `bodyWindowBytes` in each window of `bodyWindowMs`. */
  readonly bodyWindowMs: number;
  readonly bodyWindowBytes: number;
  /** One JSON body, after decompression. */
  readonly maxBodyBytes: number;
  /** One event of a stream, after decompression. */
  readonly maxEventBytes: number;
  /** All events of one connection of a stream together, after decompression. */
  readonly maxStreamBytes: number;
  /** How long a stream may stay open after it delivered the response, before its socket is closed. */
  readonly lingerMs: number;
  /** The delay before a broken stream is resumed, doubled each time up to the maximum. */
  readonly resumeDelayMs: number;
  readonly maxResumeDelayMs: number;
  /** Consecutive attempts without a new event. */
  readonly maxResumes: number;
  /** How long `close()` waits for the end of a session. */
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
  resumeDelayMs: RESUME.firstMs,
  maxResumeDelayMs: RESUME.maxMs,
  maxResumes: MAX_RESUMES,
  closeMs: 1_000,
};

/** The maximum read from the body of an error response. */
export const MAX_ERROR_BODY_BYTES: number = 64 * KIB;

/** Redirects followed within one origin for one request. */
export const MAX_REDIRECTS = 5;

/** Sockets of one transport: each pending request holds one. */
export const MAX_CONNECTIONS = 128;

/** Idle time before TCP keep-alive probes. */
export const TCP_KEEP_ALIVE_MS = 15_000;
