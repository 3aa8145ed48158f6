/** Sends requests to a token endpoint through the SDK and translates its errors. */

import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/client';
import { PlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';
import type { EgressFetch } from '../policy/egress-fetch.ts';
import { authFailed, oauthCode } from './auth-errors.ts';
import { dpopSession } from './dpop.ts';
import { loadSdk } from './sdk.ts';
import {
  type IssuerEndpoints,
  resourceIndicator,
  type StoredClient,
  type StoredLogin,
  type StoredTokens,
} from './stored-login.ts';

/** The authorization server refused the request; repeating it cannot help. */
export interface Refused {
  readonly kind: 'refused';
  readonly code: string;
}

export interface Granted {
  readonly kind: 'granted';
  readonly tokens: StoredTokens;
}

export type TokenAnswer = Granted | Refused;

/** OAuth error codes for temporary failures of the server. */
const PASSING = new Set(['server_error', 'temporarily_unavailable', 'too_many_requests', 'slow_down']);

export interface TokenRequestOptions {
  readonly server: string;
  readonly now: number;
  readonly fetch: EgressFetch;
}

export async function refreshTokens(
  login: StoredLogin & { readonly tokens: StoredTokens },
  client: StoredClient,
  options: TokenRequestOptions,
): Promise<TokenAnswer> {
  const sdk = await loadSdk();
  const dpop = login.tokens.type === 'DPoP' && login.dpopKey ? await dpopSession(login.dpopKey) : undefined;
  const answer = await asked(options, () =>
    sdk.refreshAuthorization(login.issuer, {
      metadata: metadataFor(login.issuer, login.endpoints),
      clientInformation: clientInformation(client),
      refreshToken: login.tokens.refresh ?? '',
      fetchFn: options.fetch,
      resource: login.resource ?? resourceIndicator(login.url),
      ...(dpop === undefined ? {} : { dpop }),
    }),
  );
  if (answer.kind === 'refused') return answer;
  // A server may omit an unchanged scope.
  const scope = answer.tokens.scope ?? login.tokens.scope;
  return { kind: 'granted', tokens: { ...answer.tokens, ...(scope === undefined ? {} : { scope }) } };
}

/** Runs one request to a token endpoint; rejects if the result is unknown. */
export async function asked(
  options: TokenRequestOptions,
  request: () => Promise<OAuthTokens>,
): Promise<TokenAnswer> {
  const sdk = await loadSdk();
  let tokens: OAuthTokens;
  try {
    tokens = await request();
  } catch (error) {
    if (error instanceof PlugboardError) throw error;
    if (error instanceof sdk.IssuerMismatchError) {
      throw authFailed(
        options.server,
        'the answer came from another authorization server than the one we asked.',
      );
    }
    if (error instanceof sdk.InsecureTokenEndpointError) {
      throw authFailed(options.server, 'its token endpoint is not an https address.');
    }
    const code = error instanceof sdk.OAuthError ? oauthCode(error.code) : undefined;
    if (code !== undefined && !PASSING.has(code)) return { kind: 'refused', code };
    // Neither the SDK's message nor its cause is included: both can quote the response body.
    throw new PlugboardError(
      'CONNECT_FAILED',
      `The authorization server of "${options.server}" gave no usable answer${code === undefined ? '' : ` (${code})`}`,
      { server: options.server, hint: 'Try again in a moment.' },
    );
  }
  return { kind: 'granted', tokens: toStored(tokens, options) };
}

export function clientInformation(client: StoredClient): OAuthClientInformationMixed {
  return {
    client_id: client.id,
    ...defined({ client_secret: client.secret, token_endpoint_auth_method: client.authMethod }),
  } as OAuthClientInformationMixed;
}

/** Creates the part of a metadata document that the SDK uses for a token request. */
export function metadataFor(
  issuer: string,
  endpoints: IssuerEndpoints,
  sendsIssuer = false,
): AuthorizationServerMetadata {
  return {
    issuer,
    authorization_endpoint: endpoints.token,
    token_endpoint: endpoints.token,
    response_types_supported: ['code'],
    authorization_response_iss_parameter_supported: sendsIssuer,
    ...(endpoints.authMethods === undefined
      ? {}
      : { token_endpoint_auth_methods_supported: [...endpoints.authMethods] }),
  };
}

function toStored(tokens: OAuthTokens, { server, now }: TokenRequestOptions): StoredTokens {
  // A token that is invalid in a header would cause an error that quotes it.
  if (!/^[\x21-\x7e]+$/.test(tokens.access_token))
    throw authFailed(server, 'its token cannot be sent in a header.');
  const lifetime = tokens.expires_in;
  return {
    access: tokens.access_token,
    type: tokens.token_type.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer',
    obtainedAt: now,
    ...(lifetime !== undefined && lifetime > 0 ? { expiresAt: now + lifetime * 1000 } : {}),
    ...defined({ refresh: tokens.refresh_token, scope: tokens.scope }),
  };
}
