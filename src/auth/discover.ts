/** Discovers the authorization server of an MCP server: its own metadata first, then the well-known locations. */

import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/client';
import type { OAuthDetails } from '../config/entry.ts';
import { PlugboardError } from '../errors.ts';
import type { EgressFetch } from '../policy/egress-fetch.ts';
import { authFailed } from './auth-errors.ts';
import type { RequiredAccess } from './challenge.ts';
import { loadSdk, type Sdk } from './sdk.ts';
import { type IssuerEndpoints, resourceIndicator } from './stored-login.ts';

export interface AuthorizationServer {
  readonly issuer: string;
  /** Undefined for servers of 2025-03-26 without metadata: their endpoints have fixed names. */
  readonly metadata: AuthorizationServerMetadata | undefined;
  /** True if the server published `issuer` itself, so that the `iss` of a redirect can be compared. */
  readonly issuerIsPublished: boolean;
  readonly endpoints: IssuerEndpoints;
  /** The resource indicator: exactly as published, otherwise derived from the server's url. */
  readonly resource: string;
  /** All scopes that the resource supports, used if the challenge does not name any. */
  readonly resourceScopes: string | undefined;
  readonly wantsDpop: boolean;
}

export interface DiscoverOptions {
  readonly server: string;
  readonly url: string;
  readonly oauth: OAuthDetails;
  readonly wanted: RequiredAccess;
  /** The issuer of an earlier login: reused as long as the server still lists it. */
  readonly issuer?: string | undefined;
  readonly fetch: EgressFetch;
}

export async function discover(options: DiscoverOptions): Promise<AuthorizationServer> {
  if (options.oauth.tokenUrl !== undefined) return byHand(options, options.oauth.tokenUrl);
  const sdk = await loadSdk();
  const resource = await resourceMetadata(sdk, options);
  const listed = resource?.authorization_servers ?? [];
  const chosen = listed.find((issuer) => issuer === options.issuer) ?? listed[0];
  const address = chosen ?? new URL('/', options.url).href;
  const metadata = await issuerMetadata(sdk, address, options);
  if (metadata === undefined && chosen !== undefined) {
    throw authFailed(options.server, 'its authorization server does not describe itself.', {
      hint: "Give oauth.authorizationUrl and oauth.tokenUrl in the server's entry.",
    });
  }
  return {
    issuer: metadata?.issuer ?? address,
    metadata,
    issuerIsPublished: metadata !== undefined,
    endpoints: endpointsOf(metadata, address),
    resource: resource?.resource ?? resourceIndicator(options.url),
    resourceScopes: resource?.scopes_supported?.join(' '),
    wantsDpop: options.wanted.scheme === 'dpop' || resource?.dpop_bound_access_tokens_required === true,
  };
}

/** Uses the endpoints from the configuration. The server is not queried, so it cannot change them. */
function byHand({ oauth, url }: DiscoverOptions, tokenUrl: string): AuthorizationServer {
  const issuer = new URL(tokenUrl).origin;
  return {
    issuer,
    metadata: {
      issuer,
      authorization_endpoint: oauth.authorizationUrl ?? tokenUrl,
      token_endpoint: tokenUrl,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    },
    issuerIsPublished: false,
    endpoints: { token: tokenUrl },
    resource: resourceIndicator(url),
    resourceScopes: undefined,
    wantsDpop: false,
  };
}

async function resourceMetadata(
  sdk: Sdk,
  options: DiscoverOptions,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const { resourceMetadata: named } = options.wanted;
  const places = named === undefined ? [undefined] : [named, undefined];
  for (const place of places) {
    let found: OAuthProtectedResourceMetadata;
    try {
      const where = place === undefined ? {} : { resourceMetadataUrl: place };
      found = await sdk.discoverOAuthProtectedResourceMetadata(options.url, where, options.fetch);
    } catch (error) {
      // A refused address or a network failure is reported; any other error means that no metadata is published here.
      if (error instanceof PlugboardError) throw error;
      continue;
    }
    const requestedResource = sdk.resourceUrlFromServerUrl(options.url);
    if (!sdk.checkResourceAllowed({ requestedResource, configuredResource: found.resource })) {
      throw authFailed(options.server, 'it describes another server, so no login was started.');
    }
    return found;
  }
  return undefined;
}

async function issuerMetadata(
  sdk: Sdk,
  address: string,
  options: DiscoverOptions,
): Promise<AuthorizationServerMetadata | undefined> {
  try {
    return await sdk.discoverAuthorizationServerMetadata(address, { fetchFn: options.fetch });
  } catch (error) {
    if (error instanceof PlugboardError) throw error;
    if (error instanceof sdk.IssuerMismatchError) {
      throw authFailed(options.server, 'its authorization server calls itself by another name.');
    }
    throw authFailed(options.server, 'the description of its authorization server cannot be read.');
  }
}

function endpointsOf(metadata: AuthorizationServerMetadata | undefined, address: string): IssuerEndpoints {
  const revocation =
    metadata !== undefined && 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined;
  const authMethods = metadata?.token_endpoint_auth_methods_supported;
  return {
    token: metadata?.token_endpoint ?? new URL('/token', address).href,
    ...(typeof revocation === 'string' ? { revocation } : {}),
    ...(authMethods === undefined ? {} : { authMethods }),
  };
}
