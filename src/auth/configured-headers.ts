/** The headers that the person configured for one server, with the helper's over the rest, kept until refused. */

import type { RemoteEntry } from '../config/entry.ts';
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

/** Where a helper starts, and what it sees. */
export interface HelperPlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** `source` says in words where Authorization came from; undefined when the configuration has none. */
export interface Configured {
  readonly headers: Headers;
  readonly source: string | undefined;
}

export class ConfiguredHeaders {
  readonly #options: ConfiguredHeadersOptions;
  readonly #closing = new AbortController();
  #current: Configured | undefined;
  #helping: Promise<Configured> | undefined;

  constructor(options: ConfiguredHeadersOptions) {
    this.#options = options;
  }

  /** Synchronous but for the first run of a helper. */
  get(signal?: AbortSignal): Configured | Promise<Configured> {
    if (this.#current !== undefined) return this.#current;
    const { server, entry, env } = this.#options;
    const written = configuredHeaders(server, entry, env);
    if (entry.headersHelper !== undefined) return this.#help(written, entry.headersHelper, signal);
    const source = hasAuthorization(written) ? 'the Authorization header of its entry' : undefined;
    this.#current = this.#withBearer({ headers: written, source });
    return this.#current;
  }

  /** Runs the helper once more after a refusal; true when it printed something else than before. */
  async again(signal?: AbortSignal): Promise<boolean> {
    const before = this.#current;
    if (before === undefined || this.#options.entry.headersHelper === undefined) return false;
    this.#current = undefined;
    const after = await this.get(signal);
    return JSON.stringify(after.headers) !== JSON.stringify(before.headers);
  }

  close(): void {
    this.#closing.abort();
  }

  #help(under: Headers, command: string, signal: AbortSignal | undefined): Promise<Configured> {
    // Ended with us, not with the caller who came first: the others wait for the same run.
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
    // An unset variable leaves the way to a stored login open.
    if (configured.source !== undefined || token === undefined || token.trim() === '') return configured;
    const authorization = `Bearer ${checked(server, 'Authorization', token)}`;
    return { headers: { ...configured.headers, authorization }, source: `the variable ${variable}` };
  }
}
