/** Removes a login from the store, then revokes it at the authorization server (best effort). */

import type { LoginContext } from './login.ts';
import type { StoredLogin } from './stored-login.ts';
import { clientInformation } from './token-request.ts';

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
