/** Auth guard of the management API: only this machine, our own Host and Origin, and its own token (A8, A31, A46). */

import type { IncomingMessage } from 'node:http';
import { Guard } from '../endpoint/guard.ts';
import type { Clock } from '../lib/clock.ts';
import { type HttpFailure, refusal } from './route.ts';

/** Limit on wrong tokens per time window; after that, further wrong ones get 429. The right token always passes. */
const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;

/** Headers set by proxies: such a request does not originate from its connection's address. */
const FORWARDED =
  /^(?:forwarded|via|cdn-loop|x-forwarded(?:-.+)?|x-original-(?:host|forwarded-for|url)|x-envoy-.+|(?:x-|cf-|fastly-|true-|x-cluster-)?(?:real|client|connecting|remote|originating|proxyuser)-?(?:ip|addr))$/;

const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

export interface ManagementAuthOptions {
  readonly token: string;
  /** Also accept requests that a proxy on this machine forwards. */
  readonly forwarded?: boolean | undefined;
}

export class ManagementAuth {
  readonly #guard: Guard;
  readonly #clock: Clock;
  readonly #takesForwarded: boolean;
  /** Times of wrong tokens, oldest first, at most {@link MAX_FAILURES}. */
  #failures: number[] = [];

  constructor({ token, forwarded = false }: ManagementAuthOptions, clock: Clock) {
    this.#takesForwarded = forwarded;
    // Strict also when MCP is served to other machines: management never is.
    this.#guard = new Guard({ local: true, token, verifier: undefined });
    this.#clock = clock;
  }

  listensOn(port: number): void {
    this.#guard.listensOn(port);
  }

  /** Checks the origin of every request here, including those for the page. */
  refusePlace(request: IncomingMessage): HttpFailure | undefined {
    if (!LOOPBACK.test(request.socket.remoteAddress ?? '')) {
      return refusal(403, 'Management is for this machine only', {
        hint: 'Reach it through a tunnel, such as ssh -L 7420:127.0.0.1:7420.',
      });
    }
    const header = this.#takesForwarded ? undefined : Object.keys(request.headers).find(isForwarded);
    if (header !== undefined) {
      return refusal(
        403,
        `Management does not answer forwarded requests, and this one has the header ${header}`,
        {
          hint: 'Reach it through a tunnel, such as ssh -L 7420:127.0.0.1:7420, or start with --manage-forwarded.',
        },
      );
    }
    const place = this.#guard.refusePlace(request.headers);
    return place === undefined ? undefined : refusal(place.status, place.message);
  }

  refuseStranger(request: IncomingMessage): HttpFailure | undefined {
    // Synchronous without a verifier.
    const verdict = this.#guard.identify(request.headers);
    if (verdict instanceof Promise || 'principal' in verdict) return undefined;
    const now = this.#clock.now();
    this.#failures = this.#failures.filter((at) => at > now - WINDOW_MS);
    const [oldest = now] = this.#failures;
    if (this.#failures.length >= MAX_FAILURES) {
      const seconds = Math.ceil((oldest + WINDOW_MS - now) / 1000);
      return refusal(429, 'Too many wrong tokens', {
        hint: `Try again in ${seconds} seconds.`,
        headers: { 'retry-after': String(Math.max(1, seconds)) },
      });
    }
    this.#failures.push(now);
    return refusal(401, 'The token of the page is needed; tokens of agents do not manage', {
      hint: 'plugboard dashboard opens the page with its token.',
      ...(verdict.headers === undefined ? {} : { headers: verdict.headers }),
    });
  }
}

function isForwarded(header: string): boolean {
  return FORWARDED.test(header);
}
