/** Outgoing HTTP of one host: proxies and certificates of its environment, or the author's `fetch`. */

import type { SecureContext } from 'node:tls';
import { secureContextFor } from './certificates.ts';
import { type ProxyServer, proxyFor, proxySecrets, proxyVariables } from './proxy.ts';

/** The `init` passed to an author's `fetch`; compatible with the global one and undici's. */
export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  /** Redirects are checked by us: a 3xx response must be returned as it is. */
  readonly redirect: 'manual';
  /** Aborted when the response is no longer needed; the request should end then, also while its body is read. */
  readonly signal: AbortSignal;
}

/** The part of a response that is used; the global `Response` and undici's are compatible. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: { forEach(visit: (value: string, name: string) => void): void };
  readonly body: {
    getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> };
  } | null;
}

/**
 * The part of `fetch` that is used; any implementation is compatible.
 *
 * @example
 * const host = await createHost({ fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }) });
 */
export type FetchFunction = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** Yields the bytes of a response's body; nothing if it has none. */
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
  /** The author's `fetch`, which replaces everything else here. */
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

  /** Returns the proxy for a request; `forced` is the entry's `proxy` setting. */
  proxyFor(target: URL, forced: boolean | undefined): ProxyServer | undefined {
    return this.#hasProxies ? proxyFor(target, this.#env, forced) : undefined;
  }

  /** Returns the secrets of that proxy, which must not be logged. */
  secrets(target: URL, forced: boolean | undefined): readonly string[] {
    const proxy = this.fetch === undefined ? this.proxyFor(target, forced) : undefined;
    return proxy === undefined ? [] : proxySecrets(proxy);
  }

  /** Returns the TLS context with extra authorities; undefined for Node's default. */
  secureContext(): SecureContext | undefined {
    this.#context ??= { value: secureContextFor(this.#env, this.#warn) };
    return this.#context.value;
  }
}
