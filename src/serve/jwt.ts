/** Verifies tokens of an authorization server for the gateway, and maps their claims to clients (A9). */

import type { TokenVerifier } from '../endpoint/guard.ts';
import { METADATA_PATH } from '../endpoint/http-paths.ts';
import {
  type IssuerOptions,
  issuerMetadata,
  issuerTokens,
  metadataUrlOf,
} from '../endpoint/issuer-tokens.ts';
import { errorCode } from '../lib/error-code.ts';
import { REFUSED } from './callers.ts';
import type { ClientTable } from './client-table.ts';

export type { IssuerOptions } from '../endpoint/issuer-tokens.ts';

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

export interface TokenVerifierOptions {
  /** The clients that are recognised by claims. */
  readonly clients: () => Pick<ClientTable, 'hasClaims' | 'byClaims'>;
  /** Called with the reason when a token is refused. */
  readonly report: (message: string) => void;
}

/** Fetches the issuer's keys first: a gateway that could not verify any token must not start. */
export async function createTokenVerifier(
  options: IssuerOptions,
  { clients, report }: TokenVerifierOptions,
): Promise<TokenVerifier> {
  const { issuer, audience } = options;
  const tokens = await issuerTokens(options);
  return {
    metadataPath: METADATA_PATH,
    metadataUrl: metadataUrlOf(audience),
    metadata: issuerMetadata(options),
    async principalOf(token) {
      try {
        const verified = await tokens.verify(token);
        if (verified === undefined) return undefined;
        const { principal, claims } = verified;
        const known = clients();
        if (!known.hasClaims) return principal;
        const name = known.byClaims(claims);
        if (name !== undefined) return { principal, client: name };
        report(`Refused a token of the subject ${JSON.stringify(claims.sub)}: its claims match no client`);
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
