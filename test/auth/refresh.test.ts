import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { failure } from '../world/failure.ts';
import { call, type LoginWorld, type LoginWorldOptions, openLoginWorld, SOON } from '../world/login-world.ts';

const HOUR_MS = 3_600_000;
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A login that was made just now, by a clock that the test moves. */
async function loggedIn(
  rules: Record<string, unknown> = {},
  options: LoginWorldOptions = {},
): Promise<{ as: AuthServer; world: LoginWorld; clock: ReturnType<typeof fakeClock> }> {
  const clock = fakeClock();
  const as = await startAuthServer(rules);
  const world = await openLoginWorld({ clock, ...options });
  open.push(as, world);
  await world.auth({ url: as.url }).login();
  return { as, world, clock };
}

const refreshes = (as: AuthServer): number => as.grants().filter((grant) => grant === 'refresh_token').length;

describe('a stored token', () => {
  it('costs no request and no waiting while it is valid', async () => {
    const { as, world } = await loggedIn();
    const auth = world.auth({ url: as.url });
    await auth.headers();
    const asked = as.log.length;
    const headers = auth.headers();
    expect(headers).not.toBeInstanceOf(Promise);
    expect(headers).toEqual({ authorization: expect.stringMatching(/^Bearer access-/) });
    expect(auth.headers()).toBe(headers);
    expect(as.log).toHaveLength(asked);
  });

  it('AUT-4: is renewed 30 s before it ends, once for all calls of the process', async () => {
    const { as, world, clock } = await loggedIn();
    const auth = world.auth({ url: as.url });
    await clock.advance(HOUR_MS - 30_001);
    await auth.headers();
    expect(refreshes(as)).toBe(0);
    await clock.advance(1);
    const all = await Promise.all(Array.from({ length: 20 }, () => call(auth, as.url)));
    expect(all).toEqual(Array.from({ length: 20 }, () => 200));
    expect(refreshes(as)).toBe(1);
  });

  it('AUT-4: is renewed once by two hosts of one home, in either order', async () => {
    const { as, world, clock } = await loggedIn();
    const other = await openLoginWorld({ dir: world.home.dir, clock });
    open.push(other);
    const both = [world.auth({ url: as.url }), other.auth({ url: as.url })];
    await Promise.all(both.map((auth) => auth.headers()));
    await clock.advance(HOUR_MS);
    expect(await Promise.all(both.map((auth) => call(auth, as.url)))).toEqual([200, 200]);
    expect(refreshes(as)).toBe(1);
  });

  it('keeps its scope when the answer leaves out what has not changed', async () => {
    const { as, world, clock } = await loggedIn({ challengeScope: 'read' });
    as.rules['omitScope'] = true;
    await clock.advance(HOUR_MS);
    expect(await call(world.auth({ url: as.url }), as.url)).toBe(200);
    expect([refreshes(as), (await world.logins.read(as.url))?.tokens?.scope]).toEqual([1, 'read']);
  });

  it('AUT-6: a renewal is not reported as a login to those that wait for one', async () => {
    const { as, world, clock } = await loggedIn();
    const auth = world.auth({ url: as.url });
    const told: string[] = [];
    auth.onChange(() => told.push('changed'));
    await clock.advance(HOUR_MS);
    await call(auth, as.url);
    expect(refreshes(as)).toBe(1);
    await auth.logout();
    // The logout is later and is reported; a reported renewal would precede it.
    await expect.poll(() => told, SOON).toEqual(['changed']);
  });

  it('that lives shorter than the margin is not renewed by every call', async () => {
    const { as, world, clock } = await loggedIn({ expiresIn: 20 });
    const auth = world.auth({ url: as.url });
    for (let calls = 0; calls < 5; calls++) await auth.headers();
    expect(refreshes(as)).toBe(0);
    await clock.advance(15_000);
    await auth.headers();
    expect(refreshes(as)).toBe(1);
  });

  // Protocol: 26-authorization-48
  it('without a refresh token is sent to its end and beyond: the server decides', async () => {
    const { as, world, clock } = await loggedIn({ refreshTokens: false });
    const auth = world.auth({ url: as.url });
    await clock.advance(2 * HOUR_MS);
    expect(await call(auth, as.url)).toBe(200);
    as.expire();
    const error = await failure(call(auth, as.url));
    expect([error.code, error.message]).toEqual([
      'NEEDS_AUTH',
      '"docs" requires a login: its login is no longer accepted.',
    ]);
  });

  it.each([HOUR_MS, -HOUR_MS])(
    'F24: with a clock that is wrong by %d ms, 401 means one refresh',
    async (wrong) => {
      const { as, world } = await loggedIn({ expiresIn: 7200 });
      const off = fakeClock(Date.UTC(2026, 0, 1) + wrong);
      const later = await openLoginWorld({ dir: world.home.dir, clock: off });
      open.push(later);
      as.expire();
      expect(await call(later.auth({ url: as.url }), as.url)).toBe(200);
      expect(refreshes(as)).toBe(1);
    },
  );

  it('F42: a server that always refuses gets one refresh, and the person is asked to log in', async () => {
    const { as, world, clock } = await loggedIn();
    await clock.advance(60_000);
    as.rules['refuseAll'] = true;
    const auth = world.auth({ url: as.url });
    expect(await call(auth, as.url)).toBe(401);
    for (let calls = 0; calls < 5; calls++) {
      const error = await failure(call(auth, as.url));
      expect([error.code, error.hint]).toEqual([
        'NEEDS_AUTH',
        'Call host.login("docs"), or give "headers" or "bearerTokenEnvVar" in its entry.',
      ]);
    }
    expect(refreshes(as)).toBe(1);
  });
});

describe('a token that the server refuses right after the login', () => {
  it('or right after it was renewed in time is renewed once more', async () => {
    const { as, world, clock } = await loggedIn();
    const auth = world.auth({ url: as.url });
    await clock.advance(3_580_000);
    expect(await call(auth, as.url)).toBe(200);
    as.expire();
    expect([await call(auth, as.url), refreshes(as)]).toEqual([200, 2]);
  });

  it('is renewed once, and only then the person gets an error', async () => {
    const { as, world } = await loggedIn();
    const auth = world.auth({ url: as.url });
    as.expire();
    expect(await call(auth, as.url)).toBe(200);
    expect(refreshes(as)).toBe(1);
    as.rules['refuseAll'] = true;
    for (let calls = 0; calls < 2; calls++) {
      expect((await failure(call(auth, as.url))).message).toBe(
        '"docs" requires a login: it refuses even a login that has just been renewed.',
      );
    }
    expect(refreshes(as)).toBe(1);
  });
});

describe('a refresh that fails', () => {
  it('AUT-4: a login that has ended is reported; the registration is kept, the tokens are deleted', async () => {
    const { as, world, clock } = await loggedIn();
    await clock.advance(HOUR_MS);
    const auth = world.auth({ url: as.url });
    const stored = await world.logins.read(as.url);
    // Another client used the refresh token: its family is revoked.
    await fetch(`${as.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: stored?.tokens?.refresh ?? '',
        client_id: stored?.client?.id ?? '',
      }),
    });
    const error = await failure(call(auth, as.url));
    expect(error.toJSON()).toEqual({
      code: 'NEEDS_AUTH',
      message: '"docs" requires a login: its login has expired (invalid_grant).',
      server: 'docs',
      hint: 'Call host.login("docs"), or give "headers" or "bearerTokenEnvVar" in its entry.',
    });
    const after = await world.logins.read(as.url);
    expect([after?.tokens, after?.client]).toEqual([undefined, stored?.client]);
  });

  it('AUT-2: a registration that is gone goes with its tokens, and the next login makes a new one', async () => {
    const { as, world, clock } = await loggedIn();
    await clock.advance(HOUR_MS);
    as.forgetClients();
    const auth = world.auth({ url: as.url });
    expect((await failure(call(auth, as.url))).code).toBe('NEEDS_AUTH');
    expect((await world.logins.read(as.url))?.client).toBeUndefined();
    await auth.login();
    expect(await call(auth, as.url)).toBe(200);
  });

  it('AUT-4: compare and delete: a login that arrived in between is used, not erased', async () => {
    const { as, world, clock } = await loggedIn();
    const old = await world.logins.read(as.url);
    await clock.advance(HOUR_MS);
    let release = (): void => {};
    as.rules['gate'] = new Promise<void>((resolve) => {
      release = resolve;
    });
    const auth = world.auth({ url: as.url });
    const first = call(auth, as.url);
    await expect.poll(() => refreshes(as), SOON).toBe(1);
    // While our request hangs, a newer login lands in the store by a hand that takes no lock.
    as.rules['gate'] = undefined;
    const elsewhere = await openLoginWorld({ clock });
    open.push(elsewhere);
    await elsewhere.auth({ url: as.url }).login();
    const newer = await elsewhere.logins.read(as.url);
    if (old === undefined || newer === undefined) throw new Error('There is no login.');
    await putPast(world, newer);
    as.forgetClients();
    release();
    expect(await first).toBe(200);
    expect(await world.logins.read(as.url)).toEqual(newer);
  });

  it('F48: an answer that was lost is an error that is shown, and the old token is kept', async () => {
    const { as, world, clock } = await loggedIn();
    const before = await world.logins.read(as.url);
    await clock.advance(HOUR_MS);
    as.rules['tokenEndpoint'] = 'drop';
    const auth = world.auth({ url: as.url });
    const error = await failure(call(auth, as.url));
    expect(error.toJSON()).toEqual({
      code: 'CONNECT_FAILED',
      message: `${as.issuer} could not be reached (ECONNRESET)`,
      server: 'docs',
      hint: 'Check the network, then try again.',
    });
    expect(await world.logins.read(as.url)).toEqual(before);
  });

  it('F48: while the token is still valid, a broken authorization server stops no call', async () => {
    const { as, world, clock } = await loggedIn();
    await clock.advance(HOUR_MS - 10_000);
    as.rules['tokenEndpoint'] = 'error';
    const auth = world.auth({ url: as.url });
    expect(await call(auth, as.url)).toBe(200);
    expect(await call(auth, as.url)).toBe(200);
    // The second call did not ask again: the next try waits.
    expect(refreshes(as)).toBe(1);
    as.rules['tokenEndpoint'] = 'ok';
    await clock.advance(5_000);
    expect(await call(auth, as.url)).toBe(200);
    expect(refreshes(as)).toBe(2);
  });

  it('F48: a renewed token that could not be saved is shown as an error and used on', async () => {
    const { as, world, clock } = await loggedIn();
    const auth = world.auth({ url: as.url });
    const before = await world.logins.read(as.url);
    const locks = join(world.home.run, 'locks');
    // A file in place of the folder of locks: nothing can be written from here on.
    await rm(locks, { recursive: true });
    await writeFile(locks, '');
    await clock.advance(HOUR_MS);
    as.expire();
    expect(await call(auth, as.url)).toBe(200);
    expect(world.events.filter((event) => event.type === 'notice')).toEqual([
      {
        type: 'notice',
        server: 'docs',
        level: 'error',
        message:
          'The renewed login to "docs" could not be saved. It works until this process ends; make the store writable, or log in again.',
      },
    ]);
    expect(await world.logins.read(as.url)).toEqual(before);
    expect(await call(auth, as.url)).toBe(200);
    // Once the store can be written again, the next renewal goes on from the unsaved one and saves.
    await rm(locks);
    await clock.advance(HOUR_MS);
    as.expire();
    expect(await call(auth, as.url)).toBe(200);
    expect((await world.logins.read(as.url))?.tokens?.refresh).not.toBe(before?.tokens?.refresh);
    expect(refreshes(as)).toBe(2);
  });
});

describe('more rights', () => {
  // Protocol: 25-authorization-65, 25-authorization-66, 26-authorization-15, 26-authorization-56,
  // 26-authorization-57
  it('AUT-1: step-up requests the union of granted and required scopes', async () => {
    const { as, world } = await loggedIn({ challengeScope: 'read', callScope: 'write' });
    const auth = world.auth({ url: as.url });
    expect(await call(auth, as.url, 'tools/list')).toBe(200);
    const error = await failure(call(auth, as.url));
    expect(error.toJSON()).toEqual({
      code: 'NEEDS_AUTH',
      message: 'The server "docs" requires more rights than its login has (write)',
      server: 'docs',
      hint: 'Call host.login("docs"), or give "headers" or "bearerTokenEnvVar" in its entry.',
    });
    await auth.login();
    expect(await call(auth, as.url)).toBe(200);
    expect(as.log.filter(({ path }) => path === '/authorize').map(({ query }) => query?.['scope'])).toEqual([
      'read',
      'read write',
    ]);
  });

  // Protocol: 25-authorization-67, 25-authorization-68, 26-authorization-58, 26-authorization-59
  it('F42: rights that are asked for and never granted end the asking', async () => {
    const { as, world } = await loggedIn({ challengeScope: 'read', callScope: 'write', withheld: ['write'] });
    const auth = world.auth({ url: as.url });
    await failure(call(auth, as.url));
    await auth.login();
    const error = await failure(call(auth, as.url));
    expect([error.code, error.detail.permanent, error.hint]).toEqual([
      'NEEDS_AUTH',
      true,
      'Ask its owner to give your account these rights; another login will not change it.',
    ]);
  });
});

/** Writes a login into the file as an old version would: without the lock. */
async function putPast(world: LoginWorld, login: unknown): Promise<void> {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(world.home.credentials, 'utf8');
  const file = JSON.parse(text) as { secrets: Record<string, string> };
  const [key = ''] = Object.keys(file.secrets);
  await writeFile(
    world.home.credentials,
    JSON.stringify({ ...file, secrets: { [key]: JSON.stringify(login) } }),
  );
}
