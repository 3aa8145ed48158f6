/** Takes a login away: from the store first, then, as far as it answers, from the authorization server. */

import type { LoginContext } from './login.ts';
import type { StoredLogin } from './stored-login.ts';
import { clientInformation } from './token-request.ts';

/** The login is gone here already: nobody waits long for the other side to say so. */
const REVOKE_TIMEOUT_MS = 5_000;

/** False when there was none. */
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

/** RFC 7009, best effort: the refresh token where there is one, since access tokens die with it. */
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
