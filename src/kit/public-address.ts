/** The addresses of a server over HTTP as its clients see them, also behind a proxy. */

import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../endpoint/guard.ts';
import { MCP_PATH, METADATA_PATH } from '../endpoint/http-paths.ts';
import type { WebOptions } from './http-options.ts';

export class PublicAddress {
  readonly #options: WebOptions;
  readonly #path: string;
  readonly #url: URL | undefined;

  constructor(options: WebOptions) {
    this.#options = options;
    this.#path = options.path ?? MCP_PATH;
    this.#url = options.url === undefined ? undefined : new URL(options.url);
  }

  /** Whether a `Host` is one of those that were configured. */
  isConfigured(host: string): boolean {
    const { hosts } = this.#options;
    if (hosts === '*' || host === this.#url?.host) return true;
    const name = host.replace(/:\d+$/, '');
    return hosts?.some((each) => each.toLowerCase() === host || each.toLowerCase() === name) === true;
  }

  /** Also accepts loopback names on any port: the program that we are mounted in has the port. */
  isServed(host: string): boolean {
    return this.isConfigured(host) || isLoopback(host.replace(/:\d+$/, ''));
  }

  /** The address of MCP. */
  resource(headers: IncomingHttpHeaders): string | undefined {
    if (this.#url !== undefined) return this.#url.href;
    const origin = this.#origin(headers);
    return origin && `${origin}${this.#path}`;
  }

  /** The address of the metadata: as RFC 9728 builds it, below the prefix that we are mounted at. */
  metadata(headers: IncomingHttpHeaders): string | undefined {
    const { metadataPath = METADATA_PATH, metadataUrl } = this.#options.verifier ?? {};
    if (this.#url === undefined && metadataUrl !== undefined) return metadataUrl;
    const origin = this.#url?.origin ?? this.#origin(headers);
    const { pathname = this.#path } = this.#url ?? {};
    if (origin === undefined) return undefined;
    const isPrefixed = pathname !== this.#path && pathname.endsWith(this.#path);
    return isPrefixed
      ? `${origin}${pathname.slice(0, -this.#path.length)}${metadataPath}`
      : `${origin}${metadataPath}${pathname === '/' ? '' : pathname}`;
  }

  /** Undefined for an invalid Host. */
  #origin(headers: IncomingHttpHeaders): string | undefined {
    const { trustProxy = false } = this.#options;
    const forwarded = (name: string): string | undefined => {
      const value = trustProxy ? headers[name] : undefined;
      // The first proxy, which the client spoke to, is named first.
      return typeof value === 'string' ? value.split(',')[0]?.trim() : undefined;
    };
    const host = forwarded('x-forwarded-host') ?? headers.host ?? '';
    const scheme = forwarded('x-forwarded-proto') ?? headers[':scheme'];
    if (!/^[\w.:[\]-]+$/.test(host)) return undefined;
    return `${scheme === 'https' ? 'https' : 'http'}://${host}`;
  }
}
