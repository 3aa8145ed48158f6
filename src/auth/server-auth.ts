/** Creates the credentials of one remote server from configured headers, tokens and logins. */

import type { OAuthDetails, RemoteEntry } from '../config/entry.ts';
import { asPlugboardError, forServer, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { inTime } from '../lib/waits.ts';
import { within } from '../lib/within.ts';
import type { AddressClass } from '../policy/egress.ts';
import { type EgressFetch, egressFetch, type Resolver } from '../policy/egress-fetch.ts';
import type { Network } from '../policy/network.ts';
import { authFailed, loginTimeout, needsLogin, needsVariable, refusedCredential } from './auth-errors.ts';
import { OPENER_GRACE_MS, openableUrl, openBrowser } from './browser.ts';
import { readChallenge } from './challenge.ts';
import { type Configured, ConfiguredHeaders, type HelperPlace } from './configured-headers.ts';
import { type CredentialPlace, credentialPlace } from './credential-place.ts';
import type { Challenge, Credentials, RequestLine } from './credentials.ts';
import { DpopProver } from './dpop.ts';
import { parseGrant, trustedByGrant } from './grant.ts';
import { interactiveLogin, type LoginOptions, toAnswer } from './interactive.ts';
import {
  type BegunLogin,
  beginLogin,
  finishLogin,
  type LoginAnswer,
  type LoginContext,
  logout,
} from './login.ts';
import { LoginTokens } from './login-tokens.ts';
import type { Logins } from './logins.ts';
import { MachineTokens } from './machine-tokens.ts';
import type { Headers } from './static-headers.ts';
import type { StoredTokens } from './stored-login.ts';
import { type TokenSource, waitFor } from './token-source.ts';

const CLIENT_NAME = 'Plugboard';
const LOGIN_HALF_MS = 30_000;

export interface ServerAuthOptions {
  readonly server: string;
  /** The entry after expansion. */
  readonly entry: RemoteEntry;
  readonly env: NodeJS.ProcessEnv;
  /** Working folder and environment of a headersHelper; default: those of this process. */
  readonly helperPlace?: (() => Promise<HelperPlace>) | undefined;
  /** True for an entry of a project or plugin: its endpoints must not resolve to private addresses. */
  readonly foreign?: boolean | undefined;
  readonly logins: Logins;
  readonly clock: Clock;
  /** Opens the login url in the user's browser; default: the system's opener. */
  readonly openUrl?: ((url: string) => void | Promise<void>) | undefined;
  readonly client?:
    | { readonly name?: string | undefined; readonly metadataUrl?: string | undefined }
    | undefined;
  readonly onEvent?: ((event: AuthEvent) => void) | undefined;
  /** Resolves host names to addresses; default: the system's resolver. */
  readonly resolve?: Resolver | undefined;
  /** Proxies, certificates or a `fetch` for the login; default: direct connections. */
  readonly network?: Network | undefined;
  /** Aborted when the host is closed: logins in progress end. */
  readonly leave?: AbortSignal | undefined;
  /** Time limit for each half of a non-interactive login. */
  readonly limitMs?: number | undefined;
}

export interface ServerAuth extends Credentials {
  /** Returns where the credentials of the next request come from, as `get` shows it. */
  credentialPlace(): Promise<CredentialPlace>;
  /** True if the store holds a login that was not used yet, for example one made by another process. */
  hasOtherLogin(): Promise<boolean>;
  login(options?: LoginOptions): Promise<void>;
  /** Runs the first half of a login; any process can finish it within five minutes. */
  beginLogin(options: {
    readonly redirectUri: string;
    readonly signal?: AbortSignal | undefined;
  }): Promise<BegunLogin>;
  finishLogin(answer: LoginAnswer | URLSearchParams, signal?: AbortSignal): Promise<void>;
  /** Removes the login; false if there was none. */
  logout(signal?: AbortSignal): Promise<boolean>;
  /** Calls back after a login or logout of this server in any process. */
  onChange(changed: () => void): () => void;
  close(): void;
}

export function createServerAuth(options: ServerAuthOptions): ServerAuth {
  const { server, entry } = options;
  if (!URL.canParse(entry.url)) {
    throw new PlugboardError('CONFIG_INVALID', `The url of "${server}" is not an address`, {
      server,
      hint: 'Give the whole address, beginning with https://.',
    });
  }
  return new RemoteAuth(options);
}

class RemoteAuth implements ServerAuth {
  readonly #options: ServerAuthOptions;
  readonly #context: LoginContext;
  readonly #configured: ConfiguredHeaders;
  readonly #login: LoginTokens | undefined;
  readonly #machine: MachineTokens | undefined;
  readonly #unwatch: (() => void)[] = [];
  /** The headers of the last token, cached so that a call with a valid token costs no more than a configured header. */
  #decorated: { readonly base: Headers; readonly access: string; readonly headers: Headers } | undefined;
  #lastNeeded: string | undefined;
  /** Number of logins in this process that wait for their redirect and report it themselves. */
  #waiting = 0;
  #prover: { readonly access: string; readonly prover: DpopProver } | undefined;

  constructor(options: ServerAuthOptions) {
    this.#options = options;
    const { server, entry, logins, clock, env } = options;
    this.#configured = new ConfiguredHeaders(options);
    const oauth: OAuthDetails = typeof entry.oauth === 'object' ? entry.oauth : {};
    const grant = entry.oauth === false ? undefined : parseGrant(server, oauth);
    const given = [oauth.authorizationUrl, oauth.tokenUrl].filter((url) => url !== undefined);
    const trusted = options.foreign === true ? [] : [...given, ...trustedByGrant(grant)];
    const kept = new Map<string, AddressClass>();
    const fetch = (signal: AbortSignal | undefined): EgressFetch =>
      egressFetch({
        server: entry.url,
        trusted,
        kept,
        signal,
        resolve: options.resolve,
        network: options.network,
        proxy: entry.proxy,
      });
    this.#context = {
      server,
      url: entry.url,
      oauth,
      logins,
      clock,
      trusted,
      fetch,
      clientName: options.client?.name ?? CLIENT_NAME,
      clientMetadataUrl: options.client?.metadataUrl,
    };
    if (grant !== undefined) this.#machine = new MachineTokens({ ...this.#context, grant, env });
    else if (entry.oauth !== false) {
      this.#login = new LoginTokens({
        server,
        url: entry.url,
        clientId: oauth.clientId,
        logins,
        clock,
        fetch: fetch(undefined),
        warn: (message) => options.onEvent?.({ type: 'notice', server, level: 'error', message }),
      });
    }
  }

  headers(signal?: AbortSignal, line?: RequestLine): Headers | Promise<Headers> {
    const configured = this.#configured.get(signal);
    if (configured instanceof Promise)
      return configured.then((ready) => this.#authorized(ready, signal, line));
    return this.#authorized(configured, signal, line);
  }

  async challenged(challenge: Challenge, signal?: AbortSignal): Promise<void> {
    const { server, entry } = this.#options;
    try {
      const { source } = await this.#configured.last(signal);
      if (challenge.status === 401 && (await this.#configured.again(signal))) return;
      if (source !== undefined) throw refusedCredential(server, source, challenge.status);
      const tokens = this.#machine ?? this.#login;
      const { bearerTokenEnvVar: variable } = entry;
      if (variable !== undefined && this.#machine === undefined && this.#login?.login?.tokens === undefined) {
        throw needsVariable(server, variable);
      }
      if (tokens === undefined) {
        throw needsLogin(server, entry.url, 'it asks for credentials, and its entry has "oauth": false.');
      }
      await this.#tokensRefused(tokens, challenge, signal);
    } catch (error) {
      throw this.#reported(error);
    }
  }

  credentialPlace(): Promise<CredentialPlace> {
    const { entry, env, logins } = this.#options;
    return credentialPlace(entry, env, () => logins);
  }

  hasOtherLogin(): Promise<boolean> {
    return this.#login?.isChanged() ?? Promise.resolve(false);
  }

  async login(options: LoginOptions = {}): Promise<void> {
    const { server } = this.#options;
    this.#checkPerson();
    this.#waiting += 1;
    try {
      await interactiveLogin(this.#context, {
        ...options,
        signal: this.#signal(options.signal),
        open: (url) => this.#open(url),
        notice: (message) => this.#emit({ type: 'notice', server, level: 'info', message }),
        onUrl: (url, opened) => {
          this.#emit({ type: 'login', server, state: 'waiting', url, opened });
          options.onUrl?.(url, opened);
        },
      });
    } catch (error) {
      const failure = forServer(asPlugboardError(error, 'AUTH_FAILED'), server);
      this.#emit({ type: 'login', server, state: 'failed', message: failure.message, ...hinted(failure) });
      throw failure;
    } finally {
      this.#waiting -= 1;
    }
    this.#emit({ type: 'login', server, state: 'done' });
  }

  async beginLogin(options: {
    readonly redirectUri: string;
    readonly signal?: AbortSignal | undefined;
  }): Promise<BegunLogin> {
    const { server } = this.#options;
    this.#checkPerson();
    try {
      const begun = await this.#bounded(options.signal, (signal) =>
        beginLogin(this.#context, options.redirectUri, signal),
      );
      this.#emit({ type: 'login', server, state: 'waiting', url: begun.authorizationUrl, opened: false });
      return begun;
    } catch (error) {
      throw forServer(asPlugboardError(error, 'AUTH_FAILED'), server);
    }
  }

  async finishLogin(given: LoginAnswer | URLSearchParams, signal?: AbortSignal): Promise<void> {
    const { server } = this.#options;
    const answer = given instanceof URLSearchParams ? toAnswer(given) : given;
    try {
      checkAnswer(server, answer);
      await this.#bounded(signal, (limited) => finishLogin(this.#context, answer, limited));
    } catch (error) {
      throw forServer(asPlugboardError(error, 'AUTH_FAILED'), server);
    }
    if (this.#waiting === 0) this.#emit({ type: 'login', server, state: 'done' });
  }

  async logout(signal?: AbortSignal): Promise<boolean> {
    const wanted = this.#signal(signal);
    const removed = await waitFor(logout(this.#context, wanted), wanted);
    if (removed) this.#emit({ type: 'login', server: this.#options.server, state: 'removed' });
    return removed;
  }

  onChange(changed: () => void): () => void {
    const stop = this.#options.logins.watch(this.#options.entry.url, 'login', changed);
    this.#unwatch.push(stop);
    return stop;
  }

  close(): void {
    this.#configured.close();
    this.#login?.close();
    for (const stop of this.#unwatch.splice(0)) stop();
  }

  /** Combines the caller's signal with that of the host. */
  #signal(given: AbortSignal | undefined): AbortSignal | undefined {
    const { leave } = this.#options;
    return given === undefined || leave === undefined ? (given ?? leave) : AbortSignal.any([given, leave]);
  }

  async #bounded<T>(given: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { server, clock, limitMs: ms = LOGIN_HALF_MS } = this.#options;
    const outer = this.#signal(given);
    const over = new AbortController();
    const signal = outer === undefined ? over.signal : AbortSignal.any([outer, over.signal]);
    try {
      return await within(work(signal), {
        clock,
        ms,
        late: () => loginTimeout(server, ms),
        signal: outer,
        cancelled: () => new PlugboardError('CANCELLED', 'The login was cancelled', { server }),
      });
    } finally {
      over.abort();
    }
  }

  /** Throws USAGE if an interactive login of this server would not be used. */
  #checkPerson(): void {
    if (this.#login !== undefined) return;
    const { server } = this.#options;
    const why = this.#machine === undefined ? 'has "oauth": false in its entry' : 'gets its tokens by itself';
    throw new PlugboardError('USAGE', `The server "${server}" ${why}, so there is nothing to log in to`, {
      server,
      hint: 'Change the oauth part of its entry first.',
    });
  }

  #authorized(
    configured: Configured,
    signal: AbortSignal | undefined,
    line: RequestLine | undefined,
  ): Headers | Promise<Headers> {
    const { headers, source } = configured;
    if (source !== undefined) return headers;
    const tokens = (this.#machine ?? this.#login)?.token(signal);
    if (!(tokens instanceof Promise)) return this.#signed(headers, tokens, line);
    return tokens.then(
      (ready) => this.#signed(headers, ready, line),
      (error: unknown) => {
        throw this.#reported(error);
      },
    );
  }

  #signed(base: Headers, tokens: StoredTokens | undefined, line: RequestLine | undefined): Headers {
    if (tokens === undefined) return base;
    const key = this.#login?.login?.dpopKey;
    if (tokens.type !== 'DPoP' || key === undefined) return this.#bearer(base, tokens.access);
    if (this.#prover?.access !== tokens.access) {
      this.#prover = { access: tokens.access, prover: new DpopProver(key, this.#options.clock) };
    }
    const proof = this.#prover.prover.prove(
      line ?? { method: 'POST', url: this.#options.entry.url },
      tokens.access,
    );
    return { ...base, authorization: `DPoP ${tokens.access}`, dpop: proof };
  }

  #bearer(base: Headers, access: string): Headers {
    if (this.#decorated?.base !== base || this.#decorated.access !== access) {
      this.#decorated = { base, access, headers: { ...base, authorization: `Bearer ${access}` } };
    }
    return this.#decorated.headers;
  }

  async #tokensRefused(
    tokens: TokenSource,
    challenge: Challenge,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const wanted = readChallenge(challenge.wwwAuthenticate);
    const access = challenge.refused?.replace(/^\S+\s+/, '');
    if (
      wanted.error === 'use_dpop_nonce' &&
      challenge.dpopNonce !== undefined &&
      this.#prover !== undefined
    ) {
      this.#prover.prover.remember(challenge.dpopNonce);
      return;
    }
    if (challenge.status === 403) await tokens.widen(access, wanted, signal);
    else await tokens.refused(access, wanted, signal);
  }

  async #open(url: string): Promise<boolean> {
    const { openUrl, env, clock } = this.#options;
    if (openUrl === undefined) return openBrowser(url, env);
    const opening = async (): Promise<boolean> => {
      await openUrl(openableUrl(url));
      return true;
    };
    // An opener may block until the page has loaded; the address is reported before that.
    return inTime(opening(), OPENER_GRACE_MS, clock, true).catch(() => false);
  }

  #reported(error: unknown): PlugboardError {
    const { server } = this.#options;
    const failure = forServer(asPlugboardError(error, 'AUTH_FAILED'), server);
    const needed = failure.code === 'NEEDS_AUTH' || failure.code === 'NEEDS_CLIENT_REGISTRATION';
    // Reports the same reason once, even if many calls fail with it.
    if (needed && this.#lastNeeded !== failure.message) {
      this.#lastNeeded = failure.message;
      this.#emit({ type: 'login', server, state: 'needed', message: failure.message, ...hinted(failure) });
    }
    return failure;
  }

  #emit(event: AuthEvent): void {
    if (event.type === 'login' && event.state !== 'needed') this.#lastNeeded = undefined;
    this.#options.onEvent?.(event);
  }
}

/** Checks the parameters of a redirect: one may be missing, and most frameworks turn a repeated one into a list. */
function checkAnswer(server: string, { code, state, iss, error }: LoginAnswer): void {
  if (state === undefined || state === '') throw authFailed(server, 'the answer held no state.');
  const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';
  if (![code, state, iss, error].every(isText))
    throw authFailed(server, 'the answer held something that is not a text.');
}

function hinted(error: PlugboardError): { hint?: string } {
  return error.hint === undefined ? {} : { hint: error.hint };
}

export type AuthEvent =
  | {
      readonly type: 'login';
      readonly server: string;
      readonly state: 'needed' | 'waiting' | 'done' | 'failed' | 'removed';
      readonly url?: string;
      readonly opened?: boolean;
      readonly message?: string;
      readonly hint?: string;
    }
  | {
      readonly type: 'notice';
      readonly server: string;
      readonly level: 'info' | 'warning' | 'error';
      readonly message: string;
    };
