/** Resolves and caches the configured headers of one server; the output of its headersHelper overrides the rest. */

import type { RemoteEntry } from '../config/entry.ts';
import type { HeadersFunction, HeadersRequest } from '../config/given-entry.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { runHeadersHelper } from './headers-helper.ts';
import {
  checked,
  configuredHeaders,
  type Headers,
  hasAuthorization,
  mergeHeaders,
} from './static-headers.ts';
import { waitFor } from './token-source.ts';

export interface ConfiguredHeadersOptions {
  readonly server: string;
  readonly entry: RemoteEntry;
  readonly env: NodeJS.ProcessEnv;
  readonly helperPlace?: (() => Promise<HelperPlace>) | undefined;
}

/** Working folder and environment of a headersHelper. */
export interface HelperPlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** `source` describes where Authorization was configured; undefined if it was not. */
export interface Configured {
  readonly headers: Headers;
  readonly source: string | undefined;
}

export class ConfiguredHeaders {
  readonly #options: ConfiguredHeadersOptions;
  readonly #closing = new AbortController();
  #current: Configured | undefined;
  #helping: Promise<Configured> | undefined;
  /** The last result of the `headersFrom` function. */
  #given: Configured | undefined;
  /** The result of `headersFrom` after a refusal, used when that request is repeated. */
  #renewed: Configured | undefined;

  constructor(options: ConfiguredHeadersOptions) {
    this.#options = options;
  }

  /** Returns the headers; asynchronous only for the first run of a helper and for `headersFrom`. */
  get(signal?: AbortSignal): Configured | Promise<Configured> {
    if (this.#current !== undefined) return this.#current;
    if (this.#renewed !== undefined) return this.#takeRenewed(this.#renewed);
    const { server, entry, env } = this.#options;
    const written = configuredHeaders(server, entry, env);
    if (entry.headersFrom !== undefined) return this.#ask(written, entry.headersFrom, false, signal);
    if (entry.headersHelper !== undefined) return this.#help(written, entry.headersHelper, signal);
    const source = hasAuthorization(written) ? 'the Authorization header of its entry' : undefined;
    this.#current = this.#withBearer({ headers: written, source });
    return this.#current;
  }

  /** Returns the headers of the last request without calling `headersFrom` again. */
  last(signal?: AbortSignal): Configured | Promise<Configured> {
    return this.#given ?? this.get(signal);
  }

  /** Runs the helper or `headersFrom` again after a refusal; true if the headers differ from the refused ones. */
  async again(signal?: AbortSignal): Promise<boolean> {
    const { server, entry, env } = this.#options;
    if (entry.headersFrom !== undefined) {
      const refused = JSON.stringify(this.#given?.headers);
      const renewed = await this.#ask(configuredHeaders(server, entry, env), entry.headersFrom, true, signal);
      if (JSON.stringify(renewed.headers) === refused) return false;
      this.#renewed = renewed;
      return true;
    }
    const before = this.#current;
    if (before === undefined || entry.headersHelper === undefined) return false;
    this.#current = undefined;
    const after = await this.get(signal);
    return JSON.stringify(after.headers) !== JSON.stringify(before.headers);
  }

  close(): void {
    this.#closing.abort();
  }

  /** Merges the headers of `headersFrom` over the others. It is called for each request and may cache them itself. */
  async #ask(
    under: Headers,
    headersFrom: HeadersFunction,
    refused: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Configured> {
    const { server, entry } = this.#options;
    const given = await waitFor(givenHeaders(headersFrom, { server, url: entry.url, refused }), signal);
    const headers = mergeHeaders(under, given);
    this.#given = this.#withBearer({
      headers,
      source: hasAuthorization(headers) ? 'the headers function of its entry' : undefined,
    });
    return this.#given;
  }

  #takeRenewed(renewed: Configured): Configured {
    this.#renewed = undefined;
    return renewed;
  }

  #help(under: Headers, command: string, signal: AbortSignal | undefined): Promise<Configured> {
    // Not tied to the first caller's signal, because other callers wait for the same run.
    this.#helping ??= this.#runHelper(command)
      .then((printed) => {
        const headers = mergeHeaders(under, printed);
        this.#current = this.#withBearer({
          headers,
          source: hasAuthorization(headers) ? 'its headersHelper' : undefined,
        });
        return this.#current;
      })
      .finally(() => {
        this.#helping = undefined;
      });
    return waitFor(this.#helping, signal);
  }

  async #runHelper(command: string): Promise<Headers> {
    const { server, entry, helperPlace } = this.#options;
    const { cwd, env } = (await helperPlace?.()) ?? { cwd: undefined, env: this.#options.env };
    return runHeadersHelper({ server, url: entry.url, command, env, cwd, signal: this.#closing.signal });
  }

  #withBearer(configured: Configured): Configured {
    const { server, entry, env } = this.#options;
    const variable = entry.bearerTokenEnvVar;
    const token = variable === undefined ? undefined : env[variable];
    // If the variable is unset, a stored login can still be used.
    if (configured.source !== undefined || token === undefined || token.trim() === '') return configured;
    const authorization = `Bearer ${checked(server, 'Authorization', token)}`;
    return { headers: { ...configured.headers, authorization }, source: `the variable ${variable}` };
  }
}

async function givenHeaders(headersFrom: HeadersFunction, request: HeadersRequest): Promise<Headers> {
  const { server } = request;
  const given: unknown = await Promise.resolve(request)
    .then(headersFrom)
    .catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new PlugboardError('AUTH_FAILED', `The headers function of "${server}" failed: ${why}`, {
        server,
        cause,
      });
    });
  const members = isRecord(given) ? Object.entries(given).filter(([, value]) => value !== undefined) : [];
  if (!isRecord(given) || members.some(([, value]) => typeof value !== 'string')) {
    throw new PlugboardError(
      'CONFIG_INVALID',
      `The headers function of "${server}" did not return an object of strings`,
      { server, hint: "Return an object such as { Authorization: 'Bearer …' }." },
    );
  }
  return Object.fromEntries(members.map(([name, value]) => [name, checked(server, name, String(value))]));
}
