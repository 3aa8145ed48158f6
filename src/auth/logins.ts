/** Stores the logins of one owner: in the secret store, under a lock, with changes announced to other processes. */

import type { Clock } from '../lib/clock.ts';
import { parseRecord } from '../lib/json.ts';
import type { SecretPlace, SecretStore } from '../secrets/store.ts';
import { type Account, clientKeyOf, loginKeyOf, OWN_ACCOUNT } from './account.ts';
import { NOTHING_REQUIRED, type RequiredAccess } from './challenge.ts';
import type { Change, LoginTraces } from './login-traces.ts';
import type { PendingLogin } from './pending-login.ts';
import { canonicalUrl, parseLogin, type StoredLogin, serializeLogin } from './stored-login.ts';

/** Older challenges are ignored: the server's requirements may have changed. */
const CHALLENGE_MAX_AGE_MS = 3_600_000;

/** Access to a login while its lock is held. */
export interface HeldLogin {
  read(): Promise<StoredLogin | undefined>;
  /** `login`: another user or other scopes, so hosts reconnect. `renewal`: the same login with newer tokens. */
  write(login: StoredLogin, change: Change): Promise<SecretPlace>;
  erase(): Promise<boolean>;
}

export interface LoginsOptions {
  readonly secrets: SecretStore;
  readonly traces: LoginTraces;
  readonly clock: Clock;
  /** The account that the logins belong to; default: the user's own. */
  readonly account?: Account | undefined;
}

export class Logins {
  readonly #secrets: SecretStore;
  readonly #traces: LoginTraces;
  readonly #clock: Clock;
  readonly #account: Account;

  constructor(options: LoginsOptions) {
    this.#secrets = options.secrets;
    this.#traces = options.traces;
    this.#clock = options.clock;
    this.#account = options.account ?? OWN_ACCOUNT;
  }

  /** Returns the key of a login; it differs between owners that use the same url. */
  keyOf(url: string): string {
    return loginKeyOf(this.#account, url);
  }

  async read(url: string): Promise<StoredLogin | undefined> {
    return parseLogin(await this.#secrets.get(this.#loginKey(url)), url);
  }

  /** False if a login of this url was never kept: avoids a keyring access for servers without a login. */
  mayHave(url: string): boolean {
    return this.#traces.mayHave(this.keyOf(url));
  }

  /** Returns an id that differs for each login and survives renewals; caches use it to separate principals. */
  async principal(url: string): Promise<string> {
    const stamp = this.#traces.loginStamp(this.keyOf(url));
    if (stamp !== undefined) return stamp;
    const login = await this.read(url);
    return login?.tokens === undefined ? '' : (login.id ?? login.tokens.access);
  }

  /** True if logins and logouts of other processes are announced to `watch`. */
  get areAnnounced(): boolean {
    return this.#traces.announces;
  }

  place(url: string): Promise<SecretPlace | undefined> {
    return this.#secrets.place(this.#loginKey(url));
  }

  /** Runs `work` while holding the lock, so that other processes cannot refresh or replace this login. */
  async locked<T>(url: string, work: (held: HeldLogin) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const key = this.keyOf(url);
    const held: HeldLogin = {
      read: () => this.read(url),
      write: async (login, change) => {
        const place = await this.#secrets.set(this.#loginKey(url), serializeLogin(login));
        await this.#traces.stamp(key, change);
        return place;
      },
      erase: async () => {
        const erased = await this.#secrets.delete(this.#loginKey(url));
        if (erased) await this.#traces.stamp(key, 'login');
        return erased;
      },
    };
    return this.#traces.locked(key, () => work(held), signal);
  }

  /** Returns the secret of a client that the user registered. It is asked for once and never written to our files. */
  async clientSecret(url: string): Promise<string | undefined> {
    const secret = await this.#secrets.get(this.#clientKey(url));
    if (secret !== undefined || this.#account.owner !== '') return secret;
    return this.#unboundSecret(url);
  }

  /** Returns a secret that an earlier version stored by url alone, if it belongs to the issuer it was used with. */
  async #unboundSecret(url: string): Promise<string | undefined> {
    const { issuer, tokenUrl } = this.#account;
    if (issuer === undefined) return undefined;
    const stored = await this.read(url);
    if (stored !== undefined && stored.endpoints.token !== tokenUrl) return undefined;
    return this.#secrets.get(`client:${clientKeyOf(OWN_ACCOUNT, url)}`);
  }

  async keepClientSecret(url: string, secret: string): Promise<SecretPlace> {
    return this.#secrets.set(this.#clientKey(url), secret);
  }

  /** Stores the challenge of a server, without secrets, so that a login in another process requests the same scopes. */
  async rememberChallenge(url: string, wanted: RequiredAccess): Promise<void> {
    const text = JSON.stringify({ at: this.#clock.now(), url: canonicalUrl(url), ...wanted });
    await this.#traces.note(this.keyOf(url), 'challenge', text);
  }

  async recallChallenge(url: string): Promise<RequiredAccess | undefined> {
    const text = await this.#traces.noteOf(this.keyOf(url), 'challenge');
    const value = parseRecord(text ?? '');
    if (value?.['url'] !== canonicalUrl(url) || typeof value['at'] !== 'number') return undefined;
    if (this.#clock.now() - value['at'] > CHALLENGE_MAX_AGE_MS) return undefined;
    const { scheme, error, scope, resourceMetadata } = value;
    return {
      ...NOTHING_REQUIRED,
      ...(scheme === 'bearer' || scheme === 'dpop' ? { scheme } : {}),
      ...(typeof error === 'string' ? { error } : {}),
      ...(typeof scope === 'string' ? { scope } : {}),
      ...(typeof resourceMetadata === 'string' ? { resourceMetadata } : {}),
    };
  }

  async forgetChallenge(url: string): Promise<void> {
    await this.#traces.forgetNote(this.keyOf(url), 'challenge');
  }

  /** Records that the last login failed because no client is registered, so that it is not suggested again. */
  async rememberUnregistered(url: string): Promise<void> {
    await this.#traces.note(this.keyOf(url), 'unregistered', String(this.#clock.now()));
  }

  async isUnregistered(url: string): Promise<boolean> {
    return (await this.#traces.noteOf(this.keyOf(url), 'unregistered')) !== undefined;
  }

  async forgetUnregistered(url: string): Promise<void> {
    await this.#traces.forgetNote(this.keyOf(url), 'unregistered');
  }

  savePending(pending: Omit<PendingLogin, 'account'>): Promise<void> {
    return this.#traces.savePending({ ...pending, account: this.keyOf(pending.url) });
  }

  /** Returns a pending login once, if it has not expired. */
  takePending(url: string, state: string): Promise<PendingLogin | undefined> {
    return this.#traces.takePending(state, this.keyOf(url));
  }

  dropPending(url: string, state: string): Promise<void> {
    return this.#traces.dropPending(state, this.keyOf(url));
  }

  /** Calls back after each change of this kind; a login is a renewal as well. */
  watch(url: string, change: Change, changed: () => void): () => void {
    return this.#traces.watch(this.keyOf(url), change, changed);
  }

  close(): void {
    this.#traces.close();
  }

  #loginKey(url: string): string {
    return `login:${this.keyOf(url)}`;
  }

  #clientKey(url: string): string {
    return `client:${clientKeyOf(this.#account, url)}`;
  }
}
