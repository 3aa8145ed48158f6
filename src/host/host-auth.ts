/** Owns the credentials and logins of a host's remote servers, loaded when the first one is needed. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from '../auth/account.ts';
import type { AuthEvent } from '../auth/auth-event.ts';
import type { Logins } from '../auth/logins.ts';
import type { ServerAuth } from '../auth/server-auth.ts';
import { isRemote, type RemoteEntry, type ServerEntry, type ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { isForeign } from '../config/scopes.ts';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { environmentOutside } from '../lib/find-program.ts';
import type { Network } from '../policy/network.ts';
import type { CredentialStore } from '../secrets/credential-store.ts';
import type { SecretStore } from '../secrets/store.ts';

export interface HostAuthOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly network: () => Promise<Network>;
  readonly openUrl: ((url: string) => void | Promise<void>) | undefined;
  readonly event: (event: AuthEvent) => void;
  readonly secrets: () => Promise<SecretStore>;
  /** The program's own store; if undefined, the keyring or a file in the home. */
  readonly credentials: (() => Promise<CredentialStore>) | undefined;
  /** Aborted when the host is closed. */
  readonly leave: AbortSignal;
  /** Time limit for the parts of a login that do not wait for a person. */
  readonly loginLimitMs: (entry: RemoteEntry) => number;
  /** Called after a login or logout of this server, in this process or another: its connection must be reopened. */
  readonly changed: (server: string) => void;
}

interface Member {
  readonly spec: ServerSpec;
  readonly auth: Promise<ServerAuth>;
}

export class HostAuth {
  readonly #options: HostAuthOptions;
  readonly #members = new Map<string, Member>();
  readonly #logins = new Map<string, Promise<Logins>>();

  constructor(options: HostAuthOptions) {
    this.#options = options;
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
    const { env, home, credentials } = this.#options;
    const names = [entry.bearerTokenEnvVar, ...Object.values(entry.headersFromEnv ?? {})];
    const values = names.map((name) => (name === undefined ? '' : (env[name] ?? '')));
    // Without a home, no login is stored that a later call could find.
    const hasLogins = !home.isNone && (credentials !== undefined || existsSync(join(home.run, 'logins')));
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

  async close(): Promise<void> {
    for (const name of [...this.#members.keys()]) this.drop(name);
    for (const opened of this.#logins.values()) (await opened.catch(() => undefined))?.close();
  }

  async #create(spec: ServerSpec, entry: RemoteEntry): Promise<ServerAuth> {
    const { env, home, clock, network, openUrl, event, changed, leave, loginLimitMs } = this.#options;
    const [{ createServerAuth }, logins, ways] = await Promise.all([
      import('../auth/server-auth.ts'),
      this.#loginsOf(spec, entry),
      network(),
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
      network: ways,
      openUrl,
      onEvent: event,
      leave,
      limitMs: loginLimitMs(entry),
    });
    auth.onChange(() => changed(spec.name));
    return auth;
  }

  /** Returns the logins of one owner and issuer; most hosts have one such set. */
  async #loginsOf(spec: ServerSpec, entry: RemoteEntry): Promise<Logins> {
    const { accountOf } = await import('../auth/account.ts');
    const account = accountOf(spec, entry);
    const key = JSON.stringify([account.owner, account.issuer]);
    const known = this.#logins.get(key);
    if (known !== undefined) return known;
    const opened = this.#openLogins(account);
    this.#logins.set(key, opened);
    return opened;
  }

  async #openLogins(account: Account): Promise<Logins> {
    const { home, clock, credentials, secrets } = this.#options;
    const [{ Logins }, ownSecrets] = await Promise.all([import('../auth/logins.ts'), secrets()]);
    if (credentials !== undefined) {
      const { StoreTraces } = await import('../auth/store-traces.ts');
      const traces = new StoreTraces(await credentials(), clock);
      return new Logins({ secrets: ownSecrets, traces, clock, account });
    }
    const { HomeTraces } = await import('../auth/home-traces.ts');
    return new Logins({ secrets: ownSecrets, traces: new HomeTraces(home, clock), clock, account });
  }
}
