/** Runs a user's login in two halves: begin returns an address for the browser, finish stores the tokens. */

import { randomBytes } from 'node:crypto';
import type { OAuthDetails } from '../config/entry.ts';
import { forSurface, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { defined } from '../lib/defined.ts';
import { shellWord } from '../lib/shell-word.ts';
import { egressRules } from '../policy/egress.ts';
import type { EgressFetch } from '../policy/egress-fetch.ts';
import { authFailed, needsGitHubToken, oauthCode, wantsPersonalToken } from './auth-errors.ts';
import { openableUrl } from './browser.ts';
import { NOTHING_REQUIRED, type RequiredAccess, readChallenge, scopeUnion } from './challenge.ts';
import { chooseClient, isDocument } from './choose-client.ts';
import { type AuthorizationServer, discover } from './discover.ts';
import { DPOP_ALGORITHM, dpopSession, newDpopKey } from './dpop.ts';
import type { Logins } from './logins.ts';
import { LOGIN_LIMIT_MS, type PendingLogin } from './pending-login.ts';
import { loadSdk } from './sdk.ts';
import { canonicalUrl, resourceIndicator, type StoredLogin } from './stored-login.ts';
import { asked, clientInformation, metadataFor } from './token-request.ts';

export interface LoginContext {
  readonly server: string;
  readonly url: string;
  readonly oauth: OAuthDetails;
  readonly logins: Logins;
  readonly clock: Clock;
  readonly clientName: string;
  readonly clientMetadataUrl: string | undefined;
  /** Urls from the user's own configuration. */
  readonly trusted: readonly string[];
  fetch(signal: AbortSignal | undefined): EgressFetch;
}

/** The parameters of the redirect, from the browser, a paste or the management API. */
export interface LoginAnswer {
  readonly state: string;
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
}

export interface BegunLogin {
  readonly authorizationUrl: string;
  readonly state: string;
}

/** The authorization server no longer knows our registered client: a new login has to register again. */
export class ClientForgotten extends Error {}

export async function beginLogin(
  context: LoginContext,
  redirectUri: string,
  signal: AbortSignal | undefined,
): Promise<BegunLogin> {
  const { server, url, oauth, logins, clock } = context;
  const fetch = context.fetch(signal);
  const stored = await logins.read(url);
  const challenge = (await logins.recallChallenge(url)) ?? (await probe(url, fetch));
  const wanted = challenge ?? NOTHING_REQUIRED;
  const found = await discover({ server, url, oauth, wanted, issuer: stored?.issuer, fetch });
  if (challenge === undefined && found.metadata === undefined) {
    throw authFailed(server, 'it does not ask for one.', { hint: 'Use it as it is.' });
  }
  checkSupport(context, found);
  const before = stored?.issuer === found.issuer ? stored : undefined;
  const clientSecret = oauth.clientSecret ?? (await logins.clientSecret(url));
  checkIssuerChange(context, stored, found, clientSecret !== undefined);
  const scope = scopeFor(oauth, wanted, found, before);
  const client = await chooseClient({
    server,
    authorizationServer: found,
    clientId: oauth.clientId,
    clientSecret,
    metadataUrl: context.clientMetadataUrl,
    clientName: context.clientName,
    redirectUri,
    scope,
    stored: before,
    fetch,
  }).catch(async (error: unknown) => {
    const unregistered = error instanceof PlugboardError && error.code === 'NEEDS_CLIENT_REGISTRATION';
    if (unregistered && wantsPersonalToken(url)) throw needsGitHubToken(server);
    if (unregistered) await logins.rememberUnregistered(url).catch(() => undefined);
    throw error;
  });
  await logins.forgetUnregistered(url);
  const sdk = await loadSdk();
  const state = randomBytes(32).toString('base64url');
  const started = await sdk.startAuthorization(found.issuer, {
    clientInformation: clientInformation(client),
    redirectUrl: redirectUri,
    state,
    ...defined({ metadata: found.metadata, scope }),
    resource: found.resource,
  });
  const authorizationUrl = openableUrl(started.authorizationUrl);
  const stepUp = before?.tokens !== undefined && wanted.error === 'insufficient_scope';
  await logins.savePending({
    version: 1,
    url: canonicalUrl(url),
    state,
    verifier: started.codeVerifier,
    redirectUri,
    issuer: found.issuer,
    issuerIsPublished: found.issuerIsPublished,
    sendsIssuer: found.metadata?.authorization_response_iss_parameter_supported === true,
    endpoints: found.endpoints,
    client,
    stepUps: stepUp ? (before.stepUps ?? 0) + 1 : 0,
    expiresAt: clock.now() + LOGIN_LIMIT_MS,
    resource: found.resource,
    ...(scope === undefined ? {} : { scope }),
    ...(speaksDpop(found) ? { dpopKey: await newDpopKey() } : {}),
  });
  return { authorizationUrl, state };
}

export async function finishLogin(
  context: LoginContext,
  answer: LoginAnswer,
  signal: AbortSignal | undefined,
): Promise<StoredLogin> {
  const { server, url, logins, clock } = context;
  const pending = await logins.takePending(url, answer.state);
  if (pending === undefined) {
    throw authFailed(
      server,
      'no login waits for this answer; it was finished already, or is older than five minutes.',
    );
  }
  const code = await checkedCode(context, pending, answer);
  const sdk = await loadSdk();
  const dpop = pending.dpopKey === undefined ? undefined : await dpopSession(pending.dpopKey);
  const result = await asked({ server, now: clock.now(), fetch: context.fetch(signal) }, () =>
    sdk.exchangeAuthorization(pending.issuer, {
      metadata: metadataFor(pending.issuer, pending.endpoints, pending.sendsIssuer),
      clientInformation: clientInformation(pending.client),
      authorizationCode: code,
      codeVerifier: pending.verifier,
      redirectUri: pending.redirectUri,
      fetchFn: context.fetch(signal),
      ...(answer.iss === undefined || !pending.issuerIsPublished ? {} : { iss: answer.iss }),
      resource: pending.resource ?? resourceIndicator(url),
      ...(dpop === undefined ? {} : { dpop }),
    }),
  );
  if (result.kind === 'refused') return refusedExchange(context, pending, result.code);
  const login: StoredLogin = {
    version: 1,
    id: randomBytes(12).toString('base64url'),
    url: pending.url,
    issuer: pending.issuer,
    endpoints: pending.endpoints,
    client: pending.client,
    tokens: result.tokens,
    stepUps: pending.stepUps,
    resource: pending.resource ?? resourceIndicator(url),
    ...(pending.scope === undefined ? {} : { asked: pending.scope }),
    ...(pending.dpopKey !== undefined && result.tokens.type === 'DPoP' ? { dpopKey: pending.dpopKey } : {}),
  };
  await logins.locked(url, (held) => held.write(login, 'login'), signal);
  await logins.forgetChallenge(url);
  return login;
}

/** Requests the challenge without a token, for a login before the first call; undefined if no login is needed. */
async function probe(url: string, fetch: EgressFetch): Promise<RequiredAccess | undefined> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    // A server without login answers a ping at once and does not open a session.
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  if (response.status !== 401) return undefined;
  return readChallenge(response.headers.get('www-authenticate') ?? undefined);
}

function checkSupport({ server, url, trusted, oauth }: LoginContext, found: AuthorizationServer): void {
  const { metadata } = found;
  if (metadata === undefined) return;
  if (oauth.tokenUrl !== undefined && oauth.authorizationUrl === undefined) {
    throw new PlugboardError(
      'CONFIG_INVALID',
      `The entry of "${server}" gives oauth.tokenUrl without oauth.authorizationUrl`,
      {
        server,
        hint: 'Give both, or neither.',
      },
    );
  }
  // The user's browser opens this url, with its cookies.
  egressRules({ server: url, trusted }).check(metadata.authorization_endpoint);
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true) {
    throw authFailed(server, 'its authorization server does not protect the code (PKCE with S256).', {
      hint: 'Ask the owner of the server to turn PKCE on; without it the login could be stolen.',
    });
  }
}

/** A secret that one authorization server issued is never sent to another one automatically (A4). */
function checkIssuerChange(
  { server, oauth }: LoginContext,
  stored: StoredLogin | undefined,
  found: AuthorizationServer,
  hasSecret: boolean,
): void {
  if (stored === undefined || stored.issuer === found.issuer) return;
  if (oauth.clientId === undefined || isDocument(oauth.clientId) || !hasSecret) return;
  throw authFailed(
    server,
    `it now names another authorization server (${new URL(found.issuer).origin}, before: ${new URL(stored.issuer).origin}), which must not see the client secret of the first.`,
    {
      hint: forSurface({
        commands: `If the change is right, run: plugboard logout ${shellWord(server)}, then log in again.`,
        library: `If the change is right, call host.logout(${JSON.stringify(server)}), then log in again.`,
      }),
    },
  );
}

/** Combines the scopes of the challenge, the entry and earlier grants; otherwise all scopes of the resource. */
function scopeFor(
  oauth: OAuthDetails,
  wanted: RequiredAccess,
  found: AuthorizationServer,
  before: StoredLogin | undefined,
): string | undefined {
  const configured = oauth.scopes?.join(' ');
  const named = scopeUnion(configured, wanted.scope) ?? scopeUnion(found.resourceScopes);
  const scope = scopeUnion(before?.tokens === undefined ? undefined : before.asked, named);
  const offline = found.metadata?.scopes_supported?.includes('offline_access') === true;
  return scope !== undefined && offline ? scopeUnion(scope, 'offline_access') : scope;
}

function speaksDpop({ wantsDpop, metadata }: AuthorizationServer): boolean {
  // RFC 9449 defines this member; the SDK keeps it but does not declare it.
  const algorithms = (metadata as Record<string, unknown> | undefined)?.['dpop_signing_alg_values_supported'];
  return wantsDpop && Array.isArray(algorithms) && algorithms.includes(DPOP_ALGORITHM);
}

/** Returns the code after checking the issuer of the answer; an error in it is reported only after that check. */
async function checkedCode(
  { server }: LoginContext,
  pending: PendingLogin,
  answer: LoginAnswer,
): Promise<string> {
  const sdk = await loadSdk();
  if (pending.issuerIsPublished) {
    try {
      sdk.validateAuthorizationResponseIssuer({
        iss: answer.iss,
        expectedIssuer: pending.issuer,
        issParameterSupported: pending.sendsIssuer,
      });
    } catch {
      throw authFailed(server, 'the answer came from another authorization server than the one we asked.');
    }
  }
  if (answer.error !== undefined)
    throw authFailed(server, `the authorization server responded with ${oauthCode(answer.error)}.`);
  if (answer.code === undefined || answer.code === '') throw authFailed(server, 'the answer held no code.');
  return answer.code;
}

async function refusedExchange(context: LoginContext, pending: PendingLogin, code: string): Promise<never> {
  const { logins, url, server } = context;
  if (pending.client.from === 'registered' && (code === 'invalid_client' || code === 'unauthorized_client')) {
    await logins.locked(url, async (held) => {
      const stored = await held.read();
      if (stored?.client?.id === pending.client.id) await held.erase();
    });
    throw new ClientForgotten(code);
  }
  throw authFailed(server, `the authorization server refused the code (${code}).`);
}

/** The login is already removed locally, so revocation gets only a short time. */
const REVOKE_TIMEOUT_MS = 5_000;

/** Removes the login; false if there was none. */
export async function logout(context: LoginContext, signal: AbortSignal | undefined): Promise<boolean> {
  const { logins, url } = context;
  const stored = await logins.locked(
    url,
    async (held) => {
      const login = await held.read();
      await held.erase();
      return login;
    },
    signal,
  );
  await logins.forgetChallenge(url);
  await logins.forgetUnregistered(url);
  if (stored === undefined) return false;
  await revoke(context, stored, signal).catch(() => undefined);
  return true;
}

/** Revokes the refresh token if there is one (RFC 7009, best effort): access tokens become invalid with it. */
async function revoke(
  context: LoginContext,
  login: StoredLogin,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { revocation, authMethods } = login.endpoints;
  const token = login.tokens?.refresh ?? login.tokens?.access;
  if (revocation === undefined || token === undefined || login.client === undefined) return;
  const kind = login.tokens?.refresh === undefined ? 'access_token' : 'refresh_token';
  const body = new URLSearchParams({ token, token_type_hint: kind });
  const { client } = login;
  const headers: Record<string, string> = {};
  const basic = (client.authMethod ?? authMethods?.[0] ?? 'client_secret_basic') === 'client_secret_basic';
  if (client.secret !== undefined && basic) {
    headers['authorization'] = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
  } else {
    body.set('client_id', clientInformation(client).client_id);
    if (client.secret !== undefined) body.set('client_secret', client.secret);
  }
  const limit = AbortSignal.timeout(REVOKE_TIMEOUT_MS);
  const limits = signal === undefined ? limit : AbortSignal.any([limit, signal]);
  await context.fetch(limits)(revocation, { method: 'POST', headers, body });
}
