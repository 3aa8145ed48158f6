/** Owns the network access, credentials and logins for a host's remote servers, loaded when the first needs them. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from '../auth/account.ts';
import type { Logins } from '../auth/logins.ts';
import type { AuthEvent, ServerAuth } from '../auth/server-auth.ts';
import { isRemote, type RemoteEntry, type ServerEntry, type ServerSpec } from '../config/entry.ts';
import { limitsFor } from '../config/limits.ts';
import { isForeign } from '../config/scopes.ts';
import { PlugboardError } from '../errors.ts';
import { environmentOutside } from '../lib/find-program.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import type { Network } from '../policy/network.ts';
import type { CredentialStore } from '../secrets/credential-store.ts';
import type { SecretStore } from '../secrets/store.ts';
import type { HostCore } from './host-core.ts';

interface Member {
  readonly spec: ServerSpec;
  readonly auth: Promise<ServerAuth>;
}

export class HostAuth {
  readonly #core: HostCore;
  readonly #members = new Map<string, Member>();
  readonly #logins = new Map<string, Promise<Logins>>();
  #network: Promise<Network> | undefined;
  #secrets: Promise<SecretStore> | undefined;
  #ownStore: Promise<CredentialStore> | undefined;
  #reconnecting: Promise<void> = Promise.resolve();

  constructor(core: HostCore) {
    this.#core = core;
  }

  /** Returns the network access for remote servers and logins. */
  network(): Promise<Network> {
    const { env, options } = this.#core;
    const warn = (message: string): void => this.#core.log(undefined, 'warning', message);
    this.#network ??= import('../policy/network.ts').then(
      ({ Network }) => new Network({ env, fetch: options.fetch, warn }),
    );
    return this.#network;
  }

  /** Returns the credential store: the program's own, else the keyring or a file in the home. */
  secrets(): Promise<SecretStore> {
    this.#secrets ??= this.#openSecrets();
    return this.#secrets;
  }

  /** Returns the credentials of one server; the same object for as long as its spec stays the same. */
  of(spec: ServerSpec, entry: ServerEntry): Promise<ServerAuth> {
    if (!isRemote(entry)) {
      return Promise.reject(
        new PlugboardError('USAGE', `${spec.name} runs on this machine and needs no login`, {
          server: spec.name,
        }),
      );
    }
    const known = this.#members.get(spec.name);
    if (known?.spec === spec) return known.auth;
    this.drop(spec.name);
    const auth = this.#create(spec, entry);
    this.#members.set(spec.name, { spec, auth });
    return auth;
  }

  /**
   * Returns a text that identifies us to a server: it differs between people and logins, stays the same over
   * renewals, and contains no secret. Costs nothing without a login. Undefined if a `headersFrom` function decides
   * it.
   */
  async principal(spec: ServerSpec, entry: ServerEntry): Promise<string | undefined> {
    if (!isRemote(entry)) return '';
    if (entry.headersFrom !== undefined) return undefined;
    const { env, home, options } = this.#core;
    const names = [entry.bearerTokenEnvVar, ...Object.values(entry.headersFromEnv ?? {})];
    const values = names.map((name) => (name === undefined ? '' : (env[name] ?? '')));
    // Without a home, no login is stored that a later call could find.
    const hasLogins =
      !home.isNone && (options.credentials !== undefined || existsSync(join(home.run, 'logins')));
    const login =
      hasLogins && URL.canParse(entry.url)
        ? await (await this.#loginsOf(spec, entry)).principal(entry.url)
        : '';
    return createHash('sha256')
      .update(JSON.stringify([values, login]))
      .digest('hex')
      .slice(0, 32);
  }

  /** Stores a client's secret in the keyring (or its fallback), for this owner, url and issuer. */
  async keepClientSecret(spec: ServerSpec, entry: RemoteEntry, secret: string): Promise<void> {
    await (await this.#loginsOf(spec, entry)).keepClientSecret(entry.url, secret);
  }

  drop(name: string): void {
    const member = this.#members.get(name);
    this.#members.delete(name);
    member?.auth.then(
      (auth) => auth.close(),
      () => {},
    );
  }

  /** Resolves when no server is being reconnected because of a login or logout. */
  async reconnected(): Promise<void> {
    for (let seen: Promise<void> | undefined; seen !== this.#reconnecting; ) {
      seen = this.#reconnecting;
      await seen;
    }
  }

  async close(): Promise<void> {
    for (const name of [...this.#members.keys()]) this.drop(name);
    for (const opened of this.#logins.values()) (await opened.catch(() => undefined))?.close();
  }

  async #create(spec: ServerSpec, entry: RemoteEntry): Promise<ServerAuth> {
    const { env, home, clock, options, config, closing } = this.#core;
    const [{ createServerAuth }, logins, network] = await Promise.all([
      import('../auth/server-auth.ts'),
      this.#loginsOf(spec, entry),
      this.network(),
    ]);
    const { baseDir, projectDir = baseDir } = spec;
    const auth = createServerAuth({
      server: spec.name,
      entry,
      // The system's browser opener is looked up in this environment.
      env: environmentOutside(env, projectDir),
      helperPlace: async () =>
        (await import('../transport/helper-place.ts')).helperPlace(spec, entry, { env, home }),
      logins,
      foreign: isForeign(spec),
      clock,
      network,
      openUrl: options.openUrl,
      onEvent: (event) => this.#report(event),
      leave: closing,
      limitMs: limitsFor(entry, config.settings).startupTimeoutMs,
    });
    auth.onChange(() => this.#changed(spec.name));
    return auth;
  }

  #report(event: AuthEvent): void {
    if (event.type === 'notice') {
      this.#core.log(event.server, event.level, event.message);
      return;
    }
    const { type: _type, ...login } = event;
    this.#core.events.emit('login', login);
  }

  /** Reconnects a server after a login or logout, in this process or another. */
  #changed(server: string): void {
    const { pool, work } = this.#core;
    const first = pool.get(server);
    const all = first === undefined ? [] : [first, ...work.dedicatedOf(first)];
    const reconnected = Promise.all(all.map((each) => each.reconnect().catch(() => {}))).then(() => {
      // After a logout, the tools that this login had are no longer available.
      if (first?.state.status === 'needs_auth') this.#core.forget(server);
    });
    this.#reconnecting = Promise.all([this.#reconnecting, reconnected]).then(() => {});
  }

  /** Returns the logins of one owner and issuer; most hosts have one such set. */
  async #loginsOf(spec: ServerSpec, entry: RemoteEntry): Promise<Logins> {
    const { accountOf } = await import('../auth/account.ts');
    const account = accountOf(spec, entry);
    const key = JSON.stringify([account.owner, account.issuer]);
    return getOrMake(this.#logins, key, () => this.#openLogins(account));
  }

  async #openLogins(account: Account): Promise<Logins> {
    const { home, clock } = this.#core;
    const [{ Logins }, secrets] = await Promise.all([import('../auth/logins.ts'), this.secrets()]);
    const store = await this.#storeOfProgram();
    if (store !== undefined) {
      const { StoreTraces } = await import('../auth/store-traces.ts');
      return new Logins({ secrets, traces: new StoreTraces(store, clock), clock, account });
    }
    const { HomeTraces } = await import('../auth/home-traces.ts');
    return new Logins({ secrets, traces: new HomeTraces(home, clock), clock, account });
  }

  async #openSecrets(): Promise<SecretStore> {
    const { home, env } = this.#core;
    const store = await this.#storeOfProgram();
    if (store !== undefined) return (await import('../secrets/credential-store.ts')).secretsIn(store);
    const notice = (message: string): void => this.#core.log(undefined, 'warning', message);
    return (await import('../secrets/store.ts')).openSecrets({ home, env, notice });
  }

  /** Wraps the program's own store, with a time limit and with its errors logged instead of shown to callers. */
  async #storeOfProgram(): Promise<CredentialStore | undefined> {
    const { options, clock, closing } = this.#core;
    const { credentials } = options;
    if (credentials === undefined) return undefined;
    const report = (message: string): void => this.#core.log(undefined, 'error', message);
    this.#ownStore ??= import('../secrets/bounded-store.ts').then(({ boundedStore }) =>
      boundedStore(credentials, { clock, leave: closing, report }),
    );
    return this.#ownStore;
  }
}
