/** A ready `TokenVerifier` for authorization servers that sign their tokens (JWT) and publish their keys (JWKS). */

import type { Refusal, TokenVerifier } from '../endpoint/guard.ts';
import {
  type IssuerOptions,
  type IssuerTokens,
  issuerMetadata,
  issuerTokens,
  metadataUrlOf,
} from '../endpoint/issuer-tokens.ts';
import { PlugboardError } from '../errors.ts';

/** Options of `jwtVerifier()`. */
export interface JwtVerifierOptions extends IssuerOptions {
  /** The `iss` of its tokens, and the address of its metadata. */
  readonly issuer: string;
  /** The `aud` of tokens for this server; usually its address, as in `https://example.com/mcp`. */
  readonly audience: string;
  /** The address of its keys; default: as its metadata names it (RFC 8414, or OpenID Connect). */
  readonly jwksUri?: string | undefined;
  /** Every token must have these scopes; others are refused with `insufficient_scope`. */
  readonly requiredScopes?: readonly string[] | undefined;
  /** The scopes that clients may request, for the metadata. */
  readonly scopesSupported?: readonly string[] | undefined;
}

/**
 * Verifies JSON Web Tokens of one issuer: signature, issuer, audience and expiry. The keys are fetched for the first
 * token, and again when an unknown key signs one. The handler gets `client.claims` and `client.scopes`.
 *
 * @param options - The issuer and the audience.
 * @returns The verifier, for `http()` and `server.handler()`.
 * @throws PlugboardError `USAGE` for an issuer or `jwksUri` that is not an address.
 * @example
 * const verifier = jwtVerifier({ issuer: 'https://login.example.com', audience: 'https://example.com/mcp' });
 * verifier.metadata?.resource; // → 'https://example.com/mcp'
 */
export function jwtVerifier(options: JwtVerifierOptions): TokenVerifier {
  const { issuer, audience, jwksUri, requiredScopes = [], scopesSupported } = options;
  for (const address of [issuer, jwksUri]) {
    if (address === undefined || /^https?:\/\//.test(address)) continue;
    throw new PlugboardError('USAGE', `${JSON.stringify(address)} is not the address of an issuer`);
  }
  let opening: Promise<IssuerTokens> | undefined;
  const open = (): Promise<IssuerTokens> => {
    opening ??= issuerTokens(options, jwksUri).catch((error: unknown) => {
      // The issuer may be reachable for the next token.
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    metadataUrl: metadataUrlOf(audience),
    metadata: {
      ...issuerMetadata(options),
      ...(scopesSupported === undefined ? {} : { scopes_supported: scopesSupported }),
    },
    async principalOf(token) {
      const tokens = await open();
      const verified = await tokens.verify(token).catch(() => undefined);
      if (verified === undefined) return undefined;
      const scopes = scopesOf(verified.claims);
      if (!requiredScopes.every((scope) => scopes.includes(scope))) return insufficient(requiredScopes);
      return { ...verified, scopes };
    },
  };
}

/** `scope` of RFC 8693, or `scp` of some issuers. */
function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): readonly string[] {
  const given = scope ?? scp;
  if (Array.isArray(given)) return given.filter((each): each is string => typeof each === 'string');
  return typeof given === 'string' ? given.split(' ').filter((each) => each !== '') : [];
}

function insufficient(scopes: readonly string[]): Refusal {
  const challenge = `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`;
  return {
    status: 403,
    message: `The token needs these scopes: ${scopes.join(' ')}`,
    headers: { 'www-authenticate': challenge },
  };
}
