import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { OAuthDetails } from '../../src/config/entry.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { failure } from '../world/failure.ts';
import { call, type LoginWorld, type LoginWorldOptions, openLoginWorld } from '../world/login-world.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function setUp(
  rules: Record<string, unknown>,
  options: LoginWorldOptions = {},
): Promise<{ as: AuthServer; world: LoginWorld }> {
  const as = await startAuthServer(rules);
  const world = await openLoginWorld(options);
  open.push(as, world);
  return { as, world };
}

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const publicKey = keys.publicKey.export({ type: 'spki', format: 'pem' });
const privateKey = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** A signed statement about a workload. */
function assertion(audience: string): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'ES256' })}.${part({ sub: 'workload', aud: audience })}`;
  const key = { key: createPrivateKey(privateKey), dsaEncoding: 'ieee-p1363' } as const;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

describe('grants without a person', () => {
  it('AUT-5: client credentials with a secret: one token for all calls, a new one when it ends', async () => {
    const clock = fakeClock();
    const clients = { machine: { secret: 'machine-secret', redirectUris: [] } };
    const { as, world } = await setUp({ clients, challengeScope: 'read' }, { clock });
    const oauth = {
      clientId: 'machine',
      clientSecret: 'machine-secret',
      grant: 'client_credentials',
    } as const;
    const auth = world.auth({ url: as.url, oauth });
    expect(await Promise.all(Array.from({ length: 10 }, () => call(auth, as.url)))).toEqual(
      Array(10).fill(200),
    );
    expect(as.grants()).toEqual(['client_credentials']);
    await clock.advance(3_600_000);
    expect(await call(auth, as.url)).toBe(200);
    expect(as.grants()).toEqual(['client_credentials', 'client_credentials']);
    const forms = as.log.filter(({ path }) => path === '/token').map(({ form }) => form);
    expect(forms[0]).toEqual({ grant_type: 'client_credentials', scope: 'read', resource: as.url });
  });

  it('AUT-5: a token that expires before it arrives is fetched again', async () => {
    const clock = fakeClock();
    const clients = { machine: { secret: 'machine-secret', redirectUris: [] } };
    const { as, world } = await setUp({ clients, expiresIn: 4 }, { clock });
    const oauth = {
      clientId: 'machine',
      clientSecret: 'machine-secret',
      grant: 'client_credentials',
    } as const;
    const auth = world.auth({ url: as.url, oauth });
    expect(await call(auth, as.url)).toBe(200);
    await clock.advance(2_900);
    const { authorization } = await auth.headers(undefined, { method: 'POST', url: as.url });
    await clock.advance(1_500);
    const challenge = {
      status: 401 as const,
      wwwAuthenticate: undefined,
      refused: authorization,
      dpopNonce: undefined,
    };
    await auth.challenged(challenge);
    expect(await call(auth, as.url)).toBe(200);
    expect(as.grants()).toEqual(['client_credentials', 'client_credentials']);
  });

  it('AUT-5: client credentials with a private key, from a file and from a variable', async () => {
    const clients = { machine: { redirectUris: [] } };
    const { as, world } = await setUp(
      { clients, publicKeys: { machine: publicKey }, authMethods: ['private_key_jwt'] },
      { env: { KEY: privateKey } },
    );
    const file = join(world.home.dir, 'key.pem');
    await writeFile(file, privateKey);
    for (const source of [{ privateKeyFile: file }, { privateKeyEnvVar: 'KEY' }]) {
      const oauth = { clientId: 'machine', grant: { type: 'client_credentials', ...source } } as const;
      expect(await call(world.auth({ url: as.url, oauth }), as.url)).toBe(200);
    }
    expect(as.grants()).toEqual(['client_credentials', 'client_credentials']);
  });

  it('AUT-5: workload identity: the assertion is exchanged, and a refusal is not tried again', async () => {
    const clients = { workload: { redirectUris: [] } };
    const { as, world } = await setUp({ clients, assertionKey: publicKey });
    const oauth = { clientId: 'workload', grant: { type: 'jwt_bearer', assertionEnvVar: 'JWT' } } as const;
    const env = { ...world.env, JWT: assertion(as.issuer) };
    expect(await call(world.auth({ url: as.url, oauth }, { env }), as.url)).toBe(200);
    const wrong = { ...world.env, JWT: assertion('https://elsewhere.example') };
    const error = await failure(call(world.auth({ url: as.url, oauth }, { env: wrong }), as.url));
    expect(error.toJSON()).toEqual({
      code: 'AUTH_FAILED',
      message: 'The login to "docs" failed: the authorization server refused it (invalid_grant).',
      server: 'docs',
      hint: "Check the oauth part of the server's entry.",
    });
    expect(as.grants()).toHaveLength(2);
  });

  // Protocol: 25-authorization-67, 25-authorization-68, 26-authorization-58, 26-authorization-59
  it('asks for more rights by itself, a bounded number of times', async () => {
    const clients = { machine: { secret: 'machine-secret', redirectUris: [] } };
    const { as, world } = await setUp({ clients, callScope: 'write' });
    const oauth = {
      clientId: 'machine',
      clientSecret: 'machine-secret',
      grant: 'client_credentials',
    } as const;
    const auth = world.auth({ url: as.url, oauth });
    expect(await call(auth, as.url, 'tools/list')).toBe(200);
    expect(await call(auth, as.url)).toBe(200);
    as.rules['withheld'] = ['admin'];
    as.rules['callScope'] = 'admin';
    expect(await call(auth, as.url)).toBe(403);
    const error = await failure(call(auth, as.url));
    expect([error.code, error.detail.permanent]).toEqual(['NEEDS_AUTH', true]);
  });

  it('F42: a server that refuses fresh tokens gets no second one', async () => {
    const clients = { machine: { secret: 'machine-secret', redirectUris: [] } };
    const { as, world } = await setUp({ clients, refuseAll: true });
    const oauth = {
      clientId: 'machine',
      clientSecret: 'machine-secret',
      grant: 'client_credentials',
    } as const;
    const auth = world.auth({ url: as.url, oauth });
    expect(await call(auth, as.url)).toBe(401);
    expect((await failure(call(auth, as.url))).code).toBe('AUTH_FAILED');
    expect(as.grants()).toHaveLength(1);
  });

  it('A4: the secret goes to the first issuer only, in this process and the next', async () => {
    const clients = { machine: { secret: 'machine-secret', redirectUris: [] } };
    const { as, world } = await setUp({ clients });
    const evil = await setUp({ clients });
    const oauth = {
      clientId: 'machine',
      clientSecret: 'machine-secret',
      grant: 'client_credentials',
    } as const;
    expect(await call(world.auth({ url: as.url, oauth }), as.url)).toBe(200);
    as.rules['resourceMetadata'] = { authorization_servers: [evil.as.issuer] };
    const error = await failure(call(world.auth({ url: as.url, oauth }), as.url));
    expect(error.message).toBe(
      'The login to "docs" failed: it now names another authorization server, which must not see these credentials.',
    );
    const named = { ...oauth, grant: { type: 'client_credentials', issuer: as.issuer } } as const;
    expect((await failure(call(world.auth({ url: as.url, oauth: named }), as.url))).message).toBe(
      'The login to "docs" failed: the server names another issuer than the entry does.',
    );
    expect(evil.as.grants()).toEqual([]);
  });

  it.each([
    [{ grant: { type: 'magic' }, clientId: 'x' }, 'its type is not known'],
    [{ grant: 7, clientId: 'x' }, 'it is not an object'],
    [{ grant: 'client_credentials' }, 'oauth.clientId is missing'],
    [{ grant: { type: 'jwt_bearer' }, clientId: 'x' }, 'assertionEnvVar or assertionFile is missing'],
    [{ grant: { type: 'cross_app' }, clientId: 'x' }, 'idp is missing'],
    [
      { grant: { type: 'cross_app', idp: { clientId: 'x' } }, clientId: 'x' },
      'idp.issuer or idp.tokenUrl is missing',
    ],
  ])('a grant that cannot be used is a problem of the entry: %j', async (oauth, reason) => {
    const { as, world } = await setUp({});
    // As a file may have it.
    const entry = { url: as.url, oauth: oauth as OAuthDetails };
    const error = await failure(async () => world.auth(entry).headers());
    expect([error.code, error.message]).toEqual([
      'CONFIG_INVALID',
      `The entry of "docs" has an oauth.grant that cannot be used: ${reason}`,
    ]);
  });
});

describe('DPoP', () => {
  it('tokens are bound to a key, and every request carries a proof of its own', async () => {
    const { as, world } = await setUp({ dpop: true });
    const auth = world.auth({ url: as.url });
    await auth.login();
    expect([await call(auth, as.url), await call(auth, as.url)]).toEqual([200, 200]);
    // The key is kept with the tokens: the next process goes on with both.
    const next = await openLoginWorld({ dir: world.home.dir });
    open.push(next);
    expect(await call(next.auth({ url: as.url }), as.url)).toBe(200);
    const proofs = as.log.filter(({ rpc }) => rpc === 'tools/call').map(({ headers }) => headers['dpop']);
    expect(new Set(proofs).size).toBe(3);
  });

  it('a nonce that the server asks for is in the next proof', async () => {
    const { as, world } = await setUp({ dpop: true, dpopNonce: 'nonce-1' });
    const auth = world.auth({ url: as.url });
    await auth.login();
    expect(await call(auth, as.url)).toBe(200);
    const asked = as.log.filter(({ rpc }) => rpc === 'tools/call').length;
    expect(await call(auth, as.url)).toBe(200);
    expect(as.log.filter(({ rpc }) => rpc === 'tools/call')).toHaveLength(asked + 1);
  });

  it('a bound token is renewed with the same key', async () => {
    const clock = fakeClock(Date.now());
    const { as, world } = await setUp({ dpop: true }, { clock });
    const auth = world.auth({ url: as.url });
    await auth.login();
    await clock.advance(3_600_000);
    expect(await call(auth, as.url)).toBe(200);
    expect(as.grants()).toEqual(['authorization_code', 'refresh_token']);
  });
});
