/** How the HTTP requests of one host leave this machine: proxies and authorities of its environment, or the author's `fetch`. */

import type { SecureContext } from 'node:tls';
import { secureContextFor } from './certificates.ts';
import { type ProxyServer, proxyFor, proxySecrets, proxyVariables } from './proxy.ts';

/** What a `fetch` of an author is called with; fits the `init` of the global one and of undici's. */
export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  /** Redirects are checked by us: an answer with status 3xx has to come back as it is. */
  readonly redirect: 'manual';
  /** Aborted when no one waits for the answer; the request should end then, also while its body is read. */
  readonly signal: AbortSignal;
}

/** What is read of a response: the global `Response` fits, and undici's. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: { forEach(visit: (value: string, name: string) => void): void };
  readonly body: {
    getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> };
  } | null;
}

/**
 * The part of `fetch` that is used: any implementation fits.
 *
 * @example
 * const host = await createHost({ fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }) });
 */
export type FetchFunction = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** The bytes of a response's body; none if it has no body. */
export async function* bytesOf({ body }: FetchResponse): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) return;
    if (value !== undefined) yield value;
  }
}

export interface NetworkOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly fetch?: FetchFunction | undefined;
  readonly warn?: ((message: string) => void) | undefined;
}

export class Network {
  /** In place of everything else here, if the author gave one. */
  readonly fetch: FetchFunction | undefined;
  readonly #env: NodeJS.ProcessEnv;
  readonly #warn: (message: string) => void;
  readonly #hasProxies: boolean;
  #context: { readonly value: SecureContext | undefined } | undefined;

  constructor(options: NetworkOptions) {
    this.#env = options.env;
    this.fetch = options.fetch;
    this.#warn = options.warn ?? (() => {});
    this.#hasProxies = proxyVariables(options.env).length > 0;
  }

  /** The proxy for a request; `forced`: as the entry's `proxy` says. */
  proxyFor(target: URL, forced: boolean | undefined): ProxyServer | undefined {
    return this.#hasProxies ? proxyFor(target, this.#env, forced) : undefined;
  }

  /** The texts of that proxy that must not reach a log. */
  secrets(target: URL, forced: boolean | undefined): readonly string[] {
    const proxy = this.fetch === undefined ? this.proxyFor(target, forced) : undefined;
    return proxy === undefined ? [] : proxySecrets(proxy);
  }

  /** What TLS connections trust; undefined: what Node does. */
  secureContext(): SecureContext | undefined {
    this.#context ??= { value: secureContextFor(this.#env, this.#warn) };
    return this.#context.value;
  }
}
