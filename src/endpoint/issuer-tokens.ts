/** Verifies tokens of an authorization server: signature, issuer, audience and time (A9). */

import { PlugboardError } from '../errors.ts';
import { METADATA_PATH } from './http-paths.ts';

/** Asymmetric signatures only; a shared secret or no signature is not accepted. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const DISCOVERY_TIMEOUT_MS = 10_000;
const CLOCK_TOLERANCE_S = 30;

/** An authorization server whose tokens are accepted. */
export interface IssuerOptions {
  readonly issuer: string;
  readonly audience: string;
}

/** A verified token. */
export interface IssuedToken {
  /** Identifies the subject and the client; tokens of one principal share sessions. */
  readonly principal: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface IssuerTokens {
  /** Rejects with an error of jose; undefined for a token without a subject. */
  verify(token: string): Promise<IssuedToken | undefined>;
}

/** Finds the keys of the issuer first: `jwksUri`, or where its metadata names them. */
export async function issuerTokens(
  { issuer, audience }: IssuerOptions,
  jwksUri?: string,
): Promise<IssuerTokens> {
  const { createRemoteJWKSet, jwtVerify } = await import('jose');
  const keys = createRemoteJWKSet(jwksUri === undefined ? await findKeys(issuer) : new URL(jwksUri));
  return {
    async verify(token) {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ['exp', 'sub'],
      });
      const { iss, sub, client_id: client, azp } = payload;
      // Without a subject, clients of one issuer would share sessions and results.
      if (typeof sub !== 'string' || sub.trim() === '') return undefined;
      return { principal: JSON.stringify([iss, sub, client ?? azp ?? null]), claims: payload };
    },
  };
}

/** Returns the metadata of RFC 9728 for a resource of this issuer. */
export function issuerMetadata({ issuer, audience }: IssuerOptions): Readonly<Record<string, unknown>> {
  return { resource: audience, authorization_servers: [issuer], bearer_methods_supported: ['header'] };
}

/**
 * Returns the address next to the MCP endpoint that the audience names, also behind a proxy's prefix; undefined for
 * other audiences.
 */
export function metadataUrlOf(audience: string): string | undefined {
  if (!/^https?:\/\//i.test(audience) || !URL.canParse(audience)) return undefined;
  const { origin, pathname } = new URL(audience);
  return `${origin}${pathname.replace(/(?:\/mcp)?\/?$/, '')}${METADATA_PATH}`;
}

async function findKeys(issuer: string): Promise<URL> {
  if (!URL.canParse(issuer)) {
    throw new PlugboardError('USAGE', `${JSON.stringify(issuer)} is not the address of an issuer`);
  }
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const place of places) {
    const answer = await fetch(place, { signal: AbortSignal.timeout(DISCOVERY_TIMEOUT_MS) }).catch(
      () => undefined,
    );
    const found: unknown = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
    if (typeof found !== 'object' || found === null || !('jwks_uri' in found) || !('issuer' in found))
      continue;
    // Metadata that names another issuer is rejected (RFC 8414, 3.3).
    if (found.issuer === issuer && typeof found.jwks_uri === 'string') return new URL(found.jwks_uri);
  }
  throw new PlugboardError('CONNECT_FAILED', `The keys of the issuer ${issuer} were not found`, {
    hint: 'Its metadata must be reachable, name this very issuer and have a jwks_uri.',
  });
}
