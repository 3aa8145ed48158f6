/** Verifies tokens of an authorization server: signature, issuer, audience and time (A9). */

import type { TokenVerifier } from '../endpoint/guard.ts';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import { REFUSED } from './callers.ts';
import type { ClientTable } from './client-table.ts';

/** Asymmetric signatures only; a shared secret or no signature is not accepted. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const DISCOVERY_TIMEOUT_MS = 10_000;
const CLOCK_TOLERANCE_S = 30;
const METADATA_PATH = '/.well-known/oauth-protected-resource';
/** Codes of jose: failures that the person who configured the gateway can fix. */
const REPORTED: ReadonlySet<string> = new Set([
  'ERR_JWT_CLAIM_VALIDATION_FAILED',
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWKS_TIMEOUT',
  'ERR_JWKS_INVALID',
  'ERR_JOSE_ALG_NOT_ALLOWED',
  'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  'ERR_JOSE_GENERIC',
]);

/** An authorization server whose tokens are accepted. */
export interface IssuerOptions {
  readonly issuer: string;
  readonly audience: string;
}

export interface TokenVerifierOptions {
  /** The clients that are recognised by claims. */
  readonly clients: () => Pick<ClientTable, 'hasClaims' | 'byClaims'>;
  /** Called with the reason when a token is refused. */
  readonly report: (message: string) => void;
}

/** Fetches the issuer's keys first: a gateway that could not verify any token must not start. */
export async function createTokenVerifier(
  { issuer, audience }: IssuerOptions,
  { clients, report }: TokenVerifierOptions,
): Promise<TokenVerifier> {
  const { createRemoteJWKSet, jwtVerify } = await import('jose');
  const keys = createRemoteJWKSet(await findKeys(issuer));
  return {
    metadataPath: METADATA_PATH,
    metadataUrl: metadataUrl(audience),
    metadata: { resource: audience, authorization_servers: [issuer], bearer_methods_supported: ['header'] },
    async principalOf(token) {
      try {
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
        const principal = JSON.stringify([iss, sub, client ?? azp ?? null]);
        const known = clients();
        if (!known.hasClaims) return principal;
        const name = known.byClaims(payload);
        if (name !== undefined) return { principal, client: name };
        report(`Refused a token of the subject ${JSON.stringify(sub)}: its claims match no client`);
        return { status: 403, message: REFUSED };
      } catch (error) {
        // Tokens expire all the time, and text that is not a token can be anything.
        if (REPORTED.has(errorCode(error) ?? '') && error instanceof Error)
          report(`Refused a token for ${audience} of ${issuer}: ${error.message}`);
        return undefined;
      }
    },
  };
}

/**
 * Returns the address next to the MCP endpoint that the audience names, also behind a proxy's prefix; undefined for
 * other audiences.
 */
function metadataUrl(audience: string): string | undefined {
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
