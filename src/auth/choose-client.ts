/** Chooses the OAuth client of a login: configured, stored, a client id metadata document, or dynamic registration. */

import { PlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';
import { defined } from '../lib/defined.ts';
import type { EgressFetch } from '../policy/egress-fetch.ts';
import { needsClientRegistration } from './auth-errors.ts';
import type { AuthorizationServer } from './discover.ts';
import { loadSdk } from './sdk.ts';
import type { StoredClient, StoredLogin } from './stored-login.ts';

export interface ClientOptions {
  readonly server: string;
  readonly authorizationServer: AuthorizationServer;
  /** The client id of the entry; an https url with a path is a client id metadata document. */
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  /** The host's own client id metadata document, if it has one. */
  readonly metadataUrl: string | undefined;
  readonly clientName: string;
  readonly redirectUri: string;
  readonly scope: string | undefined;
  readonly stored: StoredLogin | undefined;
  readonly fetch: EgressFetch;
}

export async function chooseClient(options: ClientOptions): Promise<StoredClient> {
  const { authorizationServer, clientId, clientSecret, stored } = options;
  if (clientId !== undefined && !isDocument(clientId)) {
    return {
      id: clientId,
      from: 'configured',
      ...defined({ secret: clientSecret }),
    };
  }
  if (
    stored?.issuer === authorizationServer.issuer &&
    stored.client?.from === 'registered' &&
    stored.client.redirectUri === options.redirectUri
  ) {
    return stored.client;
  }
  const document = clientId ?? options.metadataUrl;
  if (
    document !== undefined &&
    authorizationServer.metadata?.client_id_metadata_document_supported === true
  ) {
    return { id: document, from: 'document' };
  }
  return register(options);
}

export function isDocument(clientId: string): boolean {
  const url = attempt(() => new URL(clientId), undefined);
  return url?.protocol === 'https:' && url.pathname !== '/';
}

async function register(options: ClientOptions): Promise<StoredClient> {
  const { server, authorizationServer, redirectUri, scope } = options;
  const { metadata, issuer } = authorizationServer;
  if (metadata !== undefined && metadata.registration_endpoint === undefined)
    throw needsClientRegistration(server);
  const sdk = await loadSdk();
  try {
    const client = await sdk.registerClient(issuer, {
      clientMetadata: {
        client_name: options.clientName,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: authMethod(metadata?.token_endpoint_auth_methods_supported),
        application_type: redirectUri.startsWith('https:') ? 'web' : 'native',
      },
      fetchFn: options.fetch,
      ...defined({ metadata, scope }),
    });
    return {
      id: client.client_id,
      from: 'registered',
      redirectUri,
      ...defined({ secret: client.client_secret, authMethod: client.token_endpoint_auth_method }),
    };
  } catch (error) {
    if (error instanceof PlugboardError) throw error;
    // The remedy is the same for every cause: the user has to register an application.
    throw needsClientRegistration(server);
  }
}

/** Chooses `none` where the server allows it, because a program on a user's machine cannot keep a secret. */
function authMethod(supported: readonly string[] | undefined): string {
  const wanted = ['none', 'client_secret_basic', 'client_secret_post'];
  return wanted.find((method) => supported === undefined || supported.includes(method)) ?? 'none';
}
