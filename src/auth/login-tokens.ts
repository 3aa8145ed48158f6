/** Holds the tokens of a user's login: read once, renewed exactly once across all processes of the machine. */

import { asPlugboardError, type PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { decideRetry, RENEWAL_DELAY_MS } from '../lib/retry.ts';
import { within } from '../lib/within.ts';
import type { EgressFetch } from '../policy/egress-fetch.ts';
import { needsClientRegistration, needsLogin, needsScope, scopeNotGranted } from './auth-errors.ts';
import { type RequiredAccess, scopeCovers, scopeUnion } from './challenge.ts';
import type { HeldLogin, Logins } from './logins.ts';
import type { StoredLogin, StoredTokens } from './stored-login.ts';
import { refreshTokens } from './token-request.ts';
import { isDue, isOver, type TokenSource, waitFor } from './token-source.ts';

/** A token younger than this that replaced a refused one is not renewed again: the server rejects every token. */
const FRESH_MS = 30_000;
/** How often the store is read again if changes of other processes are not announced. */
const LOOK_MS = 60_000;
/** How long a call waits for that read. */
const LOOK_WAIT_MS = 1_000;
/** How often more scopes may be requested before the user needs other permissions. */
const MAX_STEP_UPS = 5;

export interface LoginTokensOptions {
  readonly server: string;
  readonly url: string;
  /** The configured client id: a login made with another client is ignored. */
  readonly clientId: string | undefined;
  readonly logins: Logins;
  readonly clock: Clock;
  readonly fetch: EgressFetch;
  /** Reports a problem to the user although the call continues. */
  readonly warn: (message: string) => void;
}

type WithTokens = StoredLogin & { readonly tokens: StoredTokens };

interface Unsaved {
  readonly login: WithTokens;
  readonly replaced: string;
}

export class LoginTokens implements TokenSource {
  readonly #options: LoginTokensOptions;
  readonly #stopWatching: () => void;
  #login: StoredLogin | undefined;
  /** True if the login in memory may be older than the store. */
  #isStale = true;
  /** Counts changes made under the lock: a read that started before one is discarded. */
  #settled = 0;
  #reading: Promise<void> | undefined;
  #renewing: Promise<StoredTokens> | undefined;
  /** A renewed login that could not be written, and the refresh token that the store still holds. */
  #unsaved: Unsaved | undefined;
  /** The login that the renewal in progress has written. */
  #saved: Unsaved | undefined;
  /** When the store is read again; undefined if changes are announced. */
  #lookAt: number | undefined;
  #looking: Promise<void> | undefined;
  #failure: { readonly error: PlugboardError; readonly at: number } | undefined;

  constructor(options: LoginTokensOptions) {
    this.#options = options;
    this.#stopWatching = options.logins.watch(options.url, 'renewal', () => {
      this.#isStale = true;
    });
    this.#isStale = options.logins.mayHave(options.url);
  }

  /** The login as last read, for its data other than tokens. */
  get login(): StoredLogin | undefined {
    return this.#login;
  }

  /** True if the store holds other tokens than those used last. */
  async isChanged(): Promise<boolean> {
    const stored = await this.#options.logins.read(this.#options.url);
    return stored?.tokens !== undefined && stored.tokens.access !== this.#login?.tokens?.access;
  }

  token(signal?: AbortSignal): StoredTokens | undefined | Promise<StoredTokens | undefined> {
    // Also during a read: it may replace the token that was just refused.
    if (this.#isStale || this.#reading !== undefined) return this.#loaded(signal);
    if (this.#lookAt !== undefined && this.#options.clock.now() >= this.#lookAt) return this.#looked(signal);
    return this.#current(signal);
  }

  async refused(access: string | undefined, wanted: RequiredAccess, signal?: AbortSignal): Promise<void> {
    await this.#load(signal);
    const tokens = this.#login?.tokens;
    if (tokens !== undefined && tokens.access !== access) return;
    await this.#options.logins.rememberChallenge(this.#options.url, wanted).catch(() => undefined);
    if (tokens === undefined) throw await this.#needsFirstLogin();
    if (tokens.refresh === undefined) throw this.#needsLogin('its login is no longer accepted.');
    // Compares the distance, not the order: a clock that was set back must not make an old token look new.
    const now = this.#options.clock.now();
    // A token with a lifetime of seconds may expire in transit.
    const isFresh = tokens.replacesRefused === true && Math.abs(now - tokens.obtainedAt) < FRESH_MS;
    if (isFresh && !isDue(tokens, now)) {
      throw this.#needsLogin('it refuses even a login that has just been renewed.');
    }
    await this.#renew(tokens, signal, true);
  }

  async widen(access: string | undefined, wanted: RequiredAccess, signal?: AbortSignal): Promise<void> {
    await this.#load(signal);
    const login = this.#login;
    if (login?.tokens === undefined) throw this.#needsLogin();
    if (login.tokens.access !== access) return;
    const asked = scopeUnion(login.asked, login.tokens.scope);
    const hopeless = wanted.scope !== undefined && scopeCovers(asked, wanted.scope);
    if (hopeless || (login.stepUps ?? 0) >= MAX_STEP_UPS)
      throw scopeNotGranted(this.#options.server, wanted.scope);
    await this.#options.logins.rememberChallenge(this.#options.url, wanted).catch(() => undefined);
    throw needsScope(this.#options.server, wanted.scope);
  }

  close(): void {
    this.#stopWatching();
  }

  #current(signal: AbortSignal | undefined): StoredTokens | undefined | Promise<StoredTokens | undefined> {
    const tokens = this.#login?.tokens;
    // Without a refresh token an expired token is still sent: our clock may be wrong.
    if (tokens?.refresh === undefined || !isDue(tokens, this.#options.clock.now())) return tokens;
    return this.#renewAhead(tokens, signal);
  }

  async #loaded(signal: AbortSignal | undefined): Promise<StoredTokens | undefined> {
    try {
      await this.#load(signal);
    } catch (error) {
      // A failing store does not invalidate a valid token.
      const tokens = this.#login?.tokens;
      const isValid = tokens !== undefined && !isDue(tokens, this.#options.clock.now());
      if (!isValid || asPlugboardError(error).code !== 'STORE_FAILED') throw error;
    }
    return this.#current(signal);
  }

  async #renewAhead(tokens: StoredTokens, signal: AbortSignal | undefined): Promise<StoredTokens> {
    const { clock } = this.#options;
    if (this.#failure !== undefined && clock.now() - this.#failure.at < RENEWAL_DELAY_MS) {
      if (!isOver(tokens, clock.now())) return tokens;
      if (decideRetry('renewal', this.#failure.error) !== 'repeat at once') throw this.#failure.error;
    }
    try {
      return await this.#renew(tokens, signal);
    } catch (error) {
      const failure = asPlugboardError(error);
      if (decideRetry('renewal', failure) === 'fail') throw failure;
      // Without an answer the renewal is undecided: a valid token is used, an expired one fails until the next attempt.
      if (!isOver(tokens, clock.now())) return tokens;
      throw failure;
    }
  }

  async #load(signal: AbortSignal | undefined): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await waitFor(this.#reading, signal);
  }

  async #read(): Promise<void> {
    // Cleared first: a change announced during the read causes another read.
    this.#isStale = false;
    const before = this.#settled;
    try {
      const stored = await this.#options.logins.read(this.#options.url);
      if (this.#settled === before) this.#adopt(stored);
      if (!this.#options.logins.areAnnounced) this.#lookAt = this.#options.clock.now() + LOOK_MS;
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  #settle(login: StoredLogin | undefined): void {
    this.#settled += 1;
    this.#login = login;
  }

  async #looked(signal: AbortSignal | undefined): Promise<StoredTokens | undefined> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    await waitFor(this.#looking, signal);
    return await this.#current(signal);
  }

  /** Reads the store again: another process may have logged out. If that is slow or fails, a valid token stays. */
  async #look(): Promise<void> {
    const { logins, url, clock } = this.#options;
    this.#lookAt = clock.now() + LOOK_MS;
    const before = this.#settled;
    const late = (): Error => new Error('the store is slow');
    try {
      const stored = await within(logins.read(url), { clock, ms: LOOK_WAIT_MS, late, cancelled: late });
      if (this.#settled === before) this.#adopt(stored);
    } catch {
      // The next read is due in a minute.
    }
  }

  #adopt(stored: StoredLogin | undefined): void {
    const { clientId } = this.#options;
    const foreign =
      clientId !== undefined && stored?.client?.from === 'configured' && stored.client.id !== clientId;
    const usable = foreign ? undefined : stored;
    if (this.#unsaved !== undefined && usable?.tokens?.refresh === this.#unsaved.replaced) {
      this.#login = this.#unsaved.login;
      return;
    }
    this.#unsaved = undefined;
    this.#login = usable;
  }

  #renew(old: StoredTokens, signal: AbortSignal | undefined, isRefused = false): Promise<StoredTokens> {
    // Not tied to the first caller's signal, because other callers wait for the same answer.
    this.#renewing ??= this.#renewLocked(old, isRefused)
      .then(
        (tokens) => {
          this.#failure = undefined;
          return tokens;
        },
        (error: unknown) => {
          const failure = asPlugboardError(error, 'AUTH_FAILED');
          this.#failure = { error: failure, at: this.#options.clock.now() };
          throw failure;
        },
      )
      .finally(() => {
        this.#renewing = undefined;
      });
    return waitFor(this.#renewing, signal);
  }

  /** Renews under the lock. A lock that is a transaction may fail at its end and roll back the write. */
  async #renewLocked(old: StoredTokens, isRefused: boolean): Promise<StoredTokens> {
    const { logins, url } = this.#options;
    let tokens: StoredTokens | undefined;
    this.#saved = undefined;
    try {
      return await logins.locked(url, async (held) => {
        tokens = await this.#renewHeld(held, old, isRefused);
        return tokens;
      });
    } catch (error) {
      if (tokens === undefined) throw error;
      if (this.#saved !== undefined) this.#goOnUnsaved(this.#saved);
      return tokens;
    }
  }

  /** Renews while holding the lock, after checking whether another process has already done it. */
  async #renewHeld(held: HeldLogin, old: StoredTokens, isRefused: boolean): Promise<StoredTokens> {
    const { server, clock, fetch } = this.#options;
    this.#adopt(await held.read());
    this.#settled += 1;
    const login = this.#login;
    if (login?.tokens === undefined) throw this.#needsLogin();
    if (login.tokens.access !== old.access && !isDue(login.tokens, clock.now())) return login.tokens;
    const { tokens, client } = login;
    if (tokens.refresh === undefined || client === undefined)
      throw this.#needsLogin('its login has expired.');
    const answer = await refreshTokens({ ...login, tokens }, client, { server, now: clock.now(), fetch });
    if (answer.kind === 'refused') return this.#giveUp(held, tokens, answer.code);
    const renewed: WithTokens = {
      ...login,
      tokens: { ...answer.tokens, ...(isRefused ? { replacesRefused: true } : {}) },
    };
    await this.#save(held, renewed, this.#unsaved?.replaced ?? tokens.refresh);
    return renewed.tokens;
  }

  async #save(held: HeldLogin, renewed: WithTokens, replaced: string): Promise<void> {
    this.#settle(renewed);
    try {
      await held.write(renewed, 'renewal');
      this.#unsaved = undefined;
      this.#saved = { login: renewed, replaced };
      // The announced change is our own.
      this.#isStale = false;
    } catch {
      this.#goOnUnsaved({ login: renewed, replaced });
    }
  }

  /** Keeps the renewed login in memory: the old refresh token is spent, so losing the new one would lose the login. */
  #goOnUnsaved(unsaved: Unsaved): void {
    this.#unsaved = unsaved;
    this.#options.warn(
      `The renewed login to "${this.#options.server}" could not be saved. It works until this process ends; make the store writable, or log in again.`,
    );
  }

  /** Compare and delete: removes only the refused token, never one that another process has stored since. */
  async #giveUp(held: HeldLogin, refused: StoredTokens, code: string): Promise<StoredTokens> {
    const stored = await held.read();
    if (
      stored?.tokens !== undefined &&
      stored.tokens.refresh !== refused.refresh &&
      this.#unsaved === undefined
    ) {
      this.#settle(stored);
      return stored.tokens;
    }
    this.#unsaved = undefined;
    if (stored !== undefined) {
      // A registration that the server has deleted is useless; the next login makes a new one.
      const clientIsGone = code === 'invalid_client' || code === 'unauthorized_client';
      const { tokens: _tokens, dpopKey: _dpopKey, ...kept } = stored;
      const { client, ...unregistered } = kept;
      const rest = clientIsGone && client?.from !== 'configured' ? unregistered : kept;
      this.#settle(rest);
      await held.write(rest, 'renewal').catch(() => undefined);
    }
    throw this.#needsLogin(`its login has expired (${code}).`);
  }

  /** Reports a missing client registration if the last login failed for that reason: it would fail again. */
  async #needsFirstLogin(): Promise<PlugboardError> {
    const { server, url, clientId, logins } = this.#options;
    const unregistered = clientId === undefined && (await logins.isUnregistered(url));
    return unregistered ? needsClientRegistration(server) : this.#needsLogin();
  }

  #needsLogin(why?: string): PlugboardError {
    return needsLogin(this.#options.server, this.#options.url, why);
  }
}
