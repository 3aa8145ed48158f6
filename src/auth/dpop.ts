/** Creates DPoP proofs (RFC 9449) without the SDK, so that a call stays cheap. */

import { createHash, createPrivateKey, type JsonWebKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import type { DpopSession } from '@modelcontextprotocol/client';
import type { Clock } from '../lib/clock.ts';
import type { RequestLine } from './credentials.ts';
import { loadSdk } from './sdk.ts';

/** The only algorithm of our keys; every authorization server that supports DPoP accepts it. */
export const DPOP_ALGORITHM = 'ES256';
/** Longer nonces are ignored; real ones are short. */
const MAX_NONCE_CHARS = 1024;

export class DpopProver {
  readonly #key: KeyObject;
  readonly #publicJwk: JsonWebKey;
  readonly #clock: Clock;
  #nonce: string | undefined;

  constructor(privateJwk: JsonWebKey, clock: Clock) {
    this.#key = createPrivateKey({ key: privateJwk, format: 'jwk' });
    this.#publicJwk = publicPart(privateJwk);
    this.#clock = clock;
  }

  /** Stores the server's latest nonce for the next proof. */
  remember(nonce: string): void {
    if (nonce.length <= MAX_NONCE_CHARS) this.#nonce = nonce;
  }

  prove(line: RequestLine, accessToken: string): string {
    const url = new URL(line.url);
    const head = encode({ typ: 'dpop+jwt', alg: DPOP_ALGORITHM, jwk: this.#publicJwk });
    const claims = encode({
      jti: randomUUID(),
      htm: line.method.toUpperCase(),
      htu: `${url.origin}${url.pathname}`,
      iat: Math.floor(this.#clock.now() / 1000),
      ath: createHash('sha256').update(accessToken).digest('base64url'),
      ...(this.#nonce === undefined ? {} : { nonce: this.#nonce }),
    });
    const signed = `${head}.${claims}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }
}

/** Generates a private key as the JWK that is stored with its tokens. */
export async function newDpopKey(): Promise<JsonWebKey> {
  const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
  ]);
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', privateKey);
  return { kty, crv, x, y, d } as JsonWebKey;
}

/** Converts the key to the SDK's session for token requests, in which the SDK answers nonce challenges itself. */
export async function dpopSession(privateJwk: JsonWebKey): Promise<DpopSession> {
  const sdk = await loadSdk();
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const publicJwk = publicPart(privateJwk);
  return sdk.DpopSession.create({
    keyPair: {
      privateKey: await crypto.subtle.importKey('jwk', privateJwk, algorithm, false, ['sign']),
      publicKey: await crypto.subtle.importKey('jwk', publicJwk, algorithm, true, ['verify']),
      publicJwk: publicJwk as { kty: string },
      thumbprint: thumbprint(publicJwk),
      alg: DPOP_ALGORITHM,
    },
  });
}

function publicPart({ kty, crv, x, y }: JsonWebKey): JsonWebKey {
  return { kty, crv, x, y } as JsonWebKey;
}

/** Returns the JWK thumbprint (RFC 7638): the hash of the required members in lexical order. */
function thumbprint({ kty, crv, x, y }: JsonWebKey): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
