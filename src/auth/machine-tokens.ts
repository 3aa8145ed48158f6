/** Gets tokens without a user: client credentials, workload identity, cross-app access. */

import type { AddClientAuthentication, OAuthClientProvider } from '@modelcontextprotocol/client';
import { forSurface, PlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';
import { shellWord } from '../lib/shell-word.ts';
import { authFailed, scopeNotGranted } from './auth-errors.ts';
import { NOTHING_REQUIRED, type RequiredAccess, scopeCovers, scopeUnion } from './challenge.ts';
import { type AuthorizationServer, discover } from './discover.ts';
import { type CrossAppGrant, type Grant, readSource } from './grant.ts';
import type { LoginContext } from './login.ts';
import { loadSdk, type Sdk } from './sdk.ts';
import { canonicalUrl, type StoredTokens } from './stored-login.ts';
import { asked } from './token-request.ts';
import { isDue, type TokenSource, waitFor } from './token-source.ts';

/** A refused token younger than this is not fetched again. */
const FRESH_MS = 30_000;
/** How often more scopes are requested in the lifetime of a host. */
const MAX_STEP_UPS = 3;
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

export interface MachineTokensOptions extends LoginContext {
  readonly grant: Grant;
  readonly env: NodeJS.ProcessEnv;
}

export class MachineTokens implements TokenSource {
  readonly #options: MachineTokensOptions;
  #tokens: StoredTokens | undefined;
  #found: AuthorizationServer | undefined;
  #scope: string | undefined;
  #stepUps = 0;
  #fetching: Promise<StoredTokens> | undefined;

  constructor(options: MachineTokensOptions) {
    this.#options = options;
    this.#scope = options.oauth.scopes?.join(' ');
  }

  token(signal?: AbortSignal): StoredTokens | undefined | Promise<StoredTokens | undefined> {
    const tokens = this.#tokens;
    if (tokens === undefined || !isDue(tokens, this.#options.clock.now())) return tokens;
    return this.#fetch(undefined, signal);
  }

  async refused(access: string | undefined, wanted: RequiredAccess, signal?: AbortSignal): Promise<void> {
    const tokens = this.#tokens;
    if (tokens !== undefined && tokens.access !== access) return;
    const now = this.#options.clock.now();
    // A token with a lifetime of seconds may expire in transit; that is not a reason to give up.
    const isFresh = (known: StoredTokens): boolean =>
      Math.abs(now - known.obtainedAt) < FRESH_MS && !isDue(known, now);
    if (tokens !== undefined && isFresh(tokens)) {
      throw this.#failed('it refuses a token that has just been issued');
    }
    // The server's metadata may have changed too.
    this.#found = undefined;
    await this.#fetch(wanted, signal);
  }

  async widen(access: string | undefined, wanted: RequiredAccess, signal?: AbortSignal): Promise<void> {
    if (this.#tokens !== undefined && this.#tokens.access !== access) return;
    const had = scopeUnion(this.#scope, this.#tokens?.scope);
    const hopeless = wanted.scope === undefined || scopeCovers(had, wanted.scope);
    if (hopeless || this.#stepUps >= MAX_STEP_UPS) throw scopeNotGranted(this.#options.server, wanted.scope);
    this.#stepUps++;
    this.#scope = scopeUnion(had, wanted.scope);
    await this.#fetch(wanted, signal);
  }

  #fetch(wanted: RequiredAccess | undefined, signal: AbortSignal | undefined): Promise<StoredTokens> {
    this.#fetching ??= this.#request(wanted).finally(() => {
      this.#fetching = undefined;
    });
    return waitFor(this.#fetching, signal);
  }

  async #request(wanted: RequiredAccess | undefined): Promise<StoredTokens> {
    const { server, url, oauth, clock } = this.#options;
    const fetch = this.#options.fetch(undefined);
    if (this.#found === undefined) {
      this.#found = await discover({ server, url, oauth, wanted: wanted ?? NOTHING_REQUIRED, fetch });
      await this.#bind(this.#found);
    }
    const found = this.#found;
    const scope = scopeUnion(this.#scope, wanted?.scope) ?? found.resourceScopes;
    const sdk = await loadSdk();
    const provider = await this.#provider(sdk, found, scope);
    const answer = await asked({ server, now: clock.now(), fetch }, () =>
      sdk.fetchToken(provider, found.issuer, {
        fetchFn: fetch,
        ...(found.metadata === undefined ? {} : { metadata: found.metadata }),
        resource: found.resource,
        ...(scope === undefined ? {} : { scope }),
      }),
    );
    if (answer.kind === 'refused') throw this.#failed(`the authorization server refused it (${answer.code})`);
    this.#scope = scope;
    this.#tokens = answer.tokens;
    return answer.tokens;
  }

  /** Binds the secrets to the first issuer they were used with, until the user logs out (A4). */
  async #bind(found: AuthorizationServer): Promise<void> {
    const { grant, server, url, logins } = this.#options;
    if (grant.issuer !== undefined) {
      if (sameIssuer(grant.issuer, found.issuer)) return;
      throw this.#failed('the server names another issuer than the entry does');
    }
    await logins.locked(url, async (held) => {
      const stored = await held.read();
      if (stored !== undefined && !sameIssuer(stored.issuer, found.issuer)) {
        throw authFailed(
          server,
          'it now names another authorization server, which must not see these credentials.',
          {
            hint: forSurface({
              commands: `If the change is right, run: plugboard logout ${shellWord(server)}`,
              library: `If the change is right, call host.logout(${JSON.stringify(server)}).`,
            }),
          },
        );
      }
      if (stored === undefined) {
        await held.write(
          {
            version: 1,
            url: canonicalUrl(url),
            issuer: found.issuer,
            endpoints: found.endpoints,
          },
          'renewal',
        );
      }
    });
  }

  /** Creates the part of an OAuth provider that one token request of the SDK uses. */
  async #provider(
    sdk: Sdk,
    found: AuthorizationServer,
    scope: string | undefined,
  ): Promise<OAuthClientProvider> {
    const { server, oauth, grant, env, logins, url } = this.#options;
    const clientId = oauth.clientId ?? '';
    const secret = oauth.clientSecret ?? (await logins.clientSecret(url));
    let addClientAuthentication: AddClientAuthentication | undefined;
    const params = new URLSearchParams({ grant_type: JWT_BEARER });
    switch (grant.type) {
      case 'client_credentials':
        params.set('grant_type', 'client_credentials');
        if (grant.privateKey !== undefined) {
          addClientAuthentication = sdk.createPrivateKeyJwtAuth({
            issuer: clientId,
            subject: clientId,
            privateKey: await readSource(server, grant.privateKey, env),
            alg: grant.algorithm,
          });
        }
        break;
      case 'jwt_bearer':
        params.set('assertion', await readSource(server, grant.assertion, env));
        break;
      case 'cross_app':
        params.set('assertion', await this.#crossApp(sdk, grant, found, scope));
        break;
      default:
        grant satisfies never;
    }
    if (scope !== undefined) params.set('scope', scope);
    return {
      redirectUrl: undefined,
      clientMetadata: { redirect_uris: [] },
      clientInformation: () => ({
        client_id: clientId,
        issuer: found.issuer,
        ...(secret === undefined || addClientAuthentication !== undefined ? {} : { client_secret: secret }),
      }),
      tokens: () => undefined,
      saveTokens: () => {},
      redirectToAuthorization: () => {},
      saveCodeVerifier: () => {},
      codeVerifier: () => '',
      prepareTokenRequest: () => params,
      ...(addClientAuthentication === undefined ? {} : { addClientAuthentication }),
    };
  }

  async #crossApp(
    sdk: Sdk,
    grant: CrossAppGrant,
    found: AuthorizationServer,
    scope: string | undefined,
  ): Promise<string> {
    const { server, env } = this.#options;
    const { idp } = grant;
    const idToken = await readSource(server, idp.idToken, env);
    const clientSecret =
      idp.clientSecret === undefined ? undefined : await readSource(server, idp.clientSecret, env);
    const common = {
      audience: found.issuer,
      resource: found.resource,
      idToken,
      clientId: idp.clientId,
      fetchFn: this.#options.fetch(undefined),
      ...defined({ clientSecret, scope }),
    };
    try {
      const granted =
        idp.tokenUrl === undefined
          ? await sdk.discoverAndRequestJwtAuthGrant({ ...common, idpUrl: idp.issuer ?? '' })
          : await sdk.requestJwtAuthorizationGrant({ ...common, tokenEndpoint: idp.tokenUrl });
      return granted.jwtAuthGrant;
    } catch (error) {
      if (error instanceof PlugboardError) throw error;
      throw this.#failed('the identity provider did not vouch for you; its sign-in may be over');
    }
  }

  #failed(why: string): PlugboardError {
    return authFailed(this.#options.server, `${why}.`, {
      hint: "Check the oauth part of the server's entry.",
    });
  }
}

/** Compares issuers without a trailing slash, which the URL parser adds. */
function sameIssuer(a: string, b: string): boolean {
  return a.replace(/\/$/, '') === b.replace(/\/$/, '');
}
