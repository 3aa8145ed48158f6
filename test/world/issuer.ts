/** An authorization server with one key, and a way to sign with it or with another one. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export type Sign = (claims: {
  readonly sub?: string;
  readonly groups?: readonly string[];
  readonly scope?: string;
  readonly audience?: string;
  readonly issuer?: string;
  readonly expires?: number;
  readonly stranger?: boolean;
}) => Promise<string>;

export interface Issuer {
  readonly issuer: string;
  readonly sign: Sign;
  close(): Promise<void>;
}

/** `audience`: that of its tokens, unless a token is signed for another. */
export async function startIssuer(audience: string): Promise<Issuer> {
  const own = await generateKeyPair('ES256');
  const other = await generateKeyPair('ES256');
  const keys = { keys: [{ ...(await exportJWK(own.publicKey)), kid: 'k', alg: 'ES256', use: 'sig' }] };
  let issuer = '';
  const server = createServer((request, response) => {
    const metadata = request.url === '/.well-known/oauth-authorization-server';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(metadata ? { issuer, jwks_uri: `${issuer}/keys` } : keys));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    sign: ({ groups, scope, ...claims }) =>
      new SignJWT({ ...(groups === undefined ? {} : { groups }), ...(scope === undefined ? {} : { scope }) })
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .setSubject(claims.sub ?? 'ada')
        .setAudience(claims.audience ?? audience)
        .setIssuer(claims.issuer ?? issuer)
        .setExpirationTime(claims.expires ?? Math.floor(Date.now() / 1000) + 600)
        .sign(claims.stranger ? other.privateKey : own.privateKey),
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
