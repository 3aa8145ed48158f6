import { stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { failure } from '../world/failure.ts';
import {
  browse,
  call,
  type LoginWorld,
  type LoginWorldOptions,
  openLoginWorld,
} from '../world/login-world.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function setUp(
  rules: Record<string, unknown> = {},
  options: LoginWorldOptions = {},
): Promise<{ as: AuthServer; world: LoginWorld }> {
  const as = await startAuthServer(rules);
  const world = await openLoginWorld(options);
  open.push(as, world);
  return { as, world };
}

/** What the browser was asked to open, without following it. */
function keepUrl(): { openUrl: (url: string) => void; opened: Promise<string> } {
  let openUrl: (url: string) => void = () => {};
  const opened = new Promise<string>((resolve) => {
    openUrl = resolve;
  });
  return { openUrl, opened };
}

/** Where the authorization server sends the browser back to. */
async function approved(url: string): Promise<string> {
  const back = (await fetch(url, { redirect: 'manual' })).headers.get('location');
  if (back === null) throw new Error('It did not send the browser back.');
  return back;
}

describe('a login', () => {
  // Protocol: 25-authorization-19, 25-authorization-49, 25-authorization-50, 25-base-13, 26-auth-discovery-8,
  // 26-authorization-35, 26-authorization-36, 26-base-30
  it('AUT-1: goes from the challenge to a call that works, and emits events', async () => {
    const { as, world } = await setUp();
    const auth = world.auth({ url: as.url });
    const before = await failure(call(auth, as.url));
    expect(before.toJSON()).toEqual({
      code: 'NEEDS_AUTH',
      message: '"docs" requires a login',
      server: 'docs',
      hint: 'Call host.login("docs"), or give "headers" or "bearerTokenEnvVar" in its entry.',
    });
    await auth.login();
    expect(await call(auth, as.url)).toBe(200);
    expect(as.grants()).toEqual(['authorization_code']);
    const url = world.events.find((event) => event.type === 'login' && event.state === 'waiting');
    expect(world.events).toEqual([
      { type: 'login', server: 'docs', state: 'needed', message: before.message, hint: before.hint },
      {
        type: 'login',
        server: 'docs',
        state: 'waiting',
        url: expect.stringContaining(`${as.issuer}/authorize?`),
        opened: true,
      },
      { type: 'login', server: 'docs', state: 'done' },
    ]);
    expect(url).toBeDefined();
  });

  // Protocol: 25-authorization-41, 25-authorization-42, 25-authorization-43, 25-authorization-44,
  // 25-authorization-45, 25-authorization-77, 25-authorization-78, 25-authorization-80, 25-authorization-88,
  // 26-auth-security-10, 26-auth-security-11, 26-auth-security-13, 26-auth-security-21, 26-authorization-27,
  // 26-authorization-28, 26-authorization-29, 26-authorization-30, 26-authorization-31
  it('AUT-1: sends PKCE with S256, a state, and the resource exactly as published on both requests', async () => {
    const { as, world } = await setUp();
    await world.auth({ url: as.url }).login();
    const query = as.log.find(({ path }) => path === '/authorize')?.query;
    const form = as.log.find(({ path }) => path === '/token')?.form;
    expect(query).toEqual({
      response_type: 'code',
      client_id: expect.stringMatching(/^client-/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/oauth\/callback$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      resource: as.url,
    });
    expect(form?.['resource']).toBe(as.url);
    expect(form?.['redirect_uri']).toBe(query?.['redirect_uri']);
  });

  // Protocol: 25-authorization-72, 26-auth-security-5, 26-authorization-46
  it('AUT-3: keeps what it got in a file that only its owner can read, where there is no keyring', async () => {
    const { as, world } = await setUp();
    const auth = world.auth({ url: as.url });
    expect(await auth.credentialPlace()).toBe('none');
    await auth.login();
    expect(await auth.credentialPlace()).toBe('file');
    expect((await stat(world.home.credentials)).mode & 0o777).toBe(0o600);
    expect((await stat(join(world.home.run, 'logins'))).mode & 0o777).toBe(0o700);
  });

  // Protocol: 25-authorization-57, 26-authorization-43
  it('AUT-3: a login of one url does not apply to another', async () => {
    const { as, world } = await setUp();
    await world.auth({ url: as.url }).login();
    const moved = world.auth({ url: `${as.url}?v=2` });
    expect(await moved.headers()).toEqual({});
    expect((await failure(call(moved, `${as.url}?v=2`))).code).toBe('NEEDS_AUTH');
  });

  // Protocol: 25-authorization-7, 25-authorization-13, 25-authorization-14, 26-auth-discovery-6,
  // 26-auth-discovery-7, 26-authorization-7, 26-authorization-10
  it.each(['header', 'well-known'])('AUT-1: finds the authorization server by its %s', async (discovery) => {
    const { as, world } = await setUp({ discovery });
    const auth = world.auth({ url: as.url });
    await auth.login();
    expect(await call(auth, as.url)).toBe(200);
  });

  it('AUT-2: takes endpoints given by hand and asks nothing else of the server', async () => {
    const { as, world } = await setUp({
      discovery: 'none',
      clients: { mine: { redirectUris: ['http://127.0.0.1:0/'], method: 'none' } },
    });
    const oauth = {
      clientId: 'mine',
      authorizationUrl: `${as.issuer}/authorize`,
      tokenUrl: `${as.issuer}/token`,
    };
    const openUrl = async (url: string): Promise<void> => {
      const redirectUri = new URL(url).searchParams.get('redirect_uri') ?? '';
      as.clients.set('mine', { redirectUris: [redirectUri], method: 'none' });
      await browse(url);
    };
    const auth = world.auth({ url: as.url, oauth }, { openUrl });
    await auth.login();
    expect(await call(auth, as.url)).toBe(200);
    expect(as.log.filter(({ path }) => path.startsWith('/.well-known'))).toEqual([]);
  });

  // Protocol: 25-authorization-17, 25-authorization-39, 25-authorization-40, 26-authorization-14,
  // 26-authorization-17, 26-authorization-18
  it('asks for the scope of the challenge, for what was configured, and for offline_access where it exists', async () => {
    const { as, world } = await setUp({ challengeScope: 'read', scopes: ['read', 'offline_access'] });
    await world.auth({ url: as.url, oauth: { scopes: ['extra'] } }).login();
    expect(as.log.find(({ path }) => path === '/authorize')?.query?.['scope']).toBe(
      'extra read offline_access',
    );
  });

  // Protocol: 25-authorization-16, 25-authorization-20, 25-authorization-40, 26-authorization-13,
  // 26-authorization-18
  it('asks for all scopes of the resource when the challenge names none', async () => {
    const { as, world } = await setUp({ resourceMetadata: { scopes_supported: ['a', 'b'] } });
    await world.auth({ url: as.url }).login();
    expect(as.log.find(({ path }) => path === '/authorize')?.query?.['scope']).toBe('a b');
  });

  // Protocol: 25-authorization-69, 25-authorization-79, 25-authorization-81, 25-authorization-82,
  // 25-authorization-83, 25-authorization-84, 26-auth-security-2, 26-auth-security-12, 26-auth-security-14,
  // 26-auth-security-15, 26-auth-security-16, 26-auth-security-17
  it('is refused without PKCE, before a client is registered', async () => {
    for (const pkce of [undefined, ['plain']]) {
      const { as, world } = await setUp({ pkce });
      const error = await failure(world.auth({ url: as.url }).login());
      expect(error.toJSON()).toEqual({
        code: 'AUTH_FAILED',
        message:
          'The login to "docs" failed: its authorization server does not protect the code (PKCE with S256).',
        server: 'docs',
        hint: 'Ask the owner of the server to turn PKCE on; without it the login could be stolen.',
      });
      expect(as.log.filter(({ path }) => path === '/register' || path === '/authorize')).toEqual([]);
    }
  });

  // Protocol: 26-authorization-19, 26-authorization-22
  it.each([
    ['wrong', true],
    ['wrong', false],
    ['none', true],
  ])('does not redeem a code whose iss is %s (advertised: %s)', async (issuerInAnswer, sendsIssuer) => {
    const { as, world } = await setUp({ issuerInAnswer, sendsIssuer });
    const error = await failure(world.auth({ url: as.url }).login());
    expect(error.message).toBe(
      'The login to "docs" failed: the answer came from another authorization server than the one we asked.',
    );
    expect(as.grants()).toEqual([]);
  });

  // Protocol: 25-authorization-43, 26-authorization-29
  it('is refused when the server describes another server than itself', async () => {
    const { as, world } = await setUp({ resourceMetadata: { resource: 'https://evil.example/mcp' } });
    const error = await failure(world.auth({ url: as.url }).login());
    expect(error.message).toContain('it describes another server, so no login was started');
    expect(as.log.filter(({ to }) => to === 'as')).toEqual([]);
  });

  // Protocol: 26-authorization-26
  it('reports only the code of a denial', async () => {
    const { as, world } = await setUp({ denies: 'access_denied' });
    const error = await failure(world.auth({ url: as.url }).login());
    expect(error.message).toBe(
      'The login to "docs" failed: the authorization server responded with access_denied.',
    );
    as.rules['denies'] = '<script>alert(1)</script>\u001b[2J';
    const evil = await failure(world.auth({ url: as.url }).login());
    expect(evil.message).toBe(
      'The login to "docs" failed: the authorization server responded with unknown error.',
    );
  });

  it('ends when it is cancelled, and after five minutes', async () => {
    const clock = fakeClock();
    const { as, world } = await setUp({}, { clock });
    const cancel = new AbortController();
    const first = keepUrl();
    const cancelled = failure(
      world.auth({ url: as.url }, { openUrl: first.openUrl }).login({ signal: cancel.signal }),
    );
    await first.opened;
    cancel.abort();
    expect((await cancelled).code).toBe('CANCELLED');
    const second = keepUrl();
    const late = failure(world.auth({ url: as.url }, { openUrl: second.openUrl }).login());
    await second.opened;
    await clock.advance(300_000);
    expect((await late).message).toBe('The login to "docs" failed: it was not finished within five minutes.');
  });
});

describe('which data each party receives', () => {
  it('POL-5, A5: a token endpoint that redirects elsewhere gets nothing sent on', async () => {
    const { as, world } = await setUp();
    const seen: string[] = [];
    const thief = createServer((request, response) => {
      seen.push(request.url ?? '');
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => thief.once('listening', resolve));
    const address = thief.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const bouncer = createServer((_, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${port}/stolen` }).end(),
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => bouncer.once('listening', resolve));
    for (const server of [thief, bouncer])
      open.push({ close: () => new Promise((done) => server.close(() => done())) });
    const bounce = bouncer.address();
    const bouncePort = typeof bounce === 'object' && bounce !== null ? bounce.port : 0;
    as.rules['metadata'] = { token_endpoint: `http://127.0.0.1:${bouncePort}/token` };
    const error = await failure(world.auth({ url: as.url }).login());
    expect([error.code, seen]).toEqual(['CONNECT_FAILED', []]);
  });

  it('a server that requires no login is reported as such', async () => {
    const { world } = await setUp();
    const plain = createServer((request, response) => {
      response.writeHead(request.method === 'POST' ? 200 : 404).end('{}');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => plain.once('listening', resolve));
    open.push({ close: () => new Promise((done) => plain.close(() => done())) });
    const address = plain.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/mcp`;
    expect((await failure(world.auth({ url }).login())).message).toBe(
      'The login to "docs" failed: it does not ask for one.',
    );
  });

  it('servers without a person behind them cannot be logged in to', async () => {
    const { as, world } = await setUp();
    const off = await failure(world.auth({ url: as.url, oauth: false }).login());
    const machine = { clientId: 'x', grant: 'client_credentials' } as const;
    const alone = await failure(world.auth({ url: as.url, oauth: machine }).login());
    expect([off.code, off.message, alone.code, alone.message]).toEqual([
      'USAGE',
      'The server "docs" has "oauth": false in its entry, so there is nothing to log in to',
      'USAGE',
      'The server "docs" gets its tokens by itself, so there is nothing to log in to',
    ]);
  });

  it('a home that cannot be written is reported in plain text, and stops no server that needs no login', async () => {
    const { as, world } = await setUp();
    await writeFile(world.home.run, 'a file where a folder should be');
    const auth = world.auth({ url: as.url });
    expect(await auth.headers()).toEqual({});
    expect((await failure(call(auth, as.url))).code).toBe('NEEDS_AUTH');
    expect((await failure(auth.login())).toJSON()).toEqual({
      code: 'AUTH_FAILED',
      message: `No login can be kept: ${join(world.home.run, 'logins')} cannot be written`,
      server: 'docs',
      hint: 'Make this folder writable, or point PLUGBOARD_HOME at one that is.',
    });
  });

  it('many refusals for one reason are reported once', async () => {
    const { as, world } = await setUp();
    const auth = world.auth({ url: as.url });
    await Promise.all(Array.from({ length: 5 }, () => failure(call(auth, as.url))));
    expect(world.events).toHaveLength(1);
    await auth.login();
    await auth.logout();
    await failure(call(auth, as.url));
    const states = world.events.map((event) => (event.type === 'login' ? event.state : event.message));
    expect(states).toEqual(['needed', 'waiting', 'done', 'removed', 'needed']);
  });

  it('a url that is none is a problem of the entry', async () => {
    const { world } = await setUp();
    expect((await failure(async () => world.auth({ url: 'mcp.example.com' }))).code).toBe('CONFIG_INVALID');
  });
});

describe('registration', () => {
  // Protocol: 25-authorization-24, 25-authorization-38, 26-authorization-11, 26-registration-1, 26-registration-15
  it('AUT-2: a pre-registered client is used first, and none is registered', async () => {
    const { as, world } = await setUp({
      clients: { mine: { redirectUris: [], secret: 'configured-secret' } },
    });
    const openUrl = async (url: string): Promise<void> => {
      as.clients.set('mine', {
        redirectUris: [new URL(url).searchParams.get('redirect_uri')],
        secret: 'configured-secret',
      });
      await browse(url);
    };
    const entry = { url: as.url, oauth: { clientId: 'mine', clientSecret: 'configured-secret' } };
    const auth = world.auth(entry, { openUrl });
    await auth.login();
    expect(await call(auth, as.url)).toBe(200);
    expect(as.log.filter(({ path }) => path === '/register')).toEqual([]);
  });

  it('AUT-2: the secret of a pre-registered client can be in the store instead of the entry', async () => {
    const { as, world } = await setUp();
    const openUrl = async (url: string): Promise<void> => {
      as.clients.set('mine', {
        redirectUris: [new URL(url).searchParams.get('redirect_uri')],
        secret: 'kept-secret',
      });
      await browse(url);
    };
    await world.logins.keepClientSecret(as.url, 'kept-secret');
    const auth = world.auth({ url: as.url, oauth: { clientId: 'mine' } }, { openUrl });
    await auth.login();
    expect(await call(auth, as.url)).toBe(200);
  });

  // Protocol: 25-authorization-5, 25-authorization-24, 25-authorization-26, 25-authorization-37, 26-authorization-5,
  // 26-registration-1, 26-registration-3, 26-registration-14
  it('AUT-2: a client id metadata document comes before registration, where the server takes one', async () => {
    const document = 'https://plugboard.example/client.json';
    const { as, world } = await setUp({ documents: true });
    await world.auth({ url: as.url, oauth: { clientId: document } }).login();
    await world.auth({ url: as.url }, { client: { metadataUrl: document } }).login();
    const ids = as.log.filter(({ path }) => path === '/authorize').map(({ query }) => query?.['client_id']);
    expect(ids).toEqual([document, document]);
    expect(as.log.filter(({ path }) => path === '/register')).toEqual([]);
    as.rules['documents'] = false;
    await world.auth({ url: as.url, oauth: { clientId: document } }).login();
    expect(as.log.filter(({ path }) => path === '/register')).toHaveLength(1);
  });

  // Protocol: 25-authorization-86, 26-auth-security-19, 26-authorization-11, 26-authorization-47,
  // 26-registration-16, 26-registration-17
  it('AUT-2: registers as a native application, and uses the registration again', async () => {
    const { as, world } = await setUp();
    const auth = world.auth({ url: as.url });
    await auth.login();
    await auth.login();
    const registered = as.log.filter(({ path }) => path === '/register').map(({ wanted }) => wanted);
    expect(registered).toEqual([
      {
        client_name: 'Plugboard',
        redirect_uris: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/oauth\/callback$/)],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        application_type: 'native',
      },
    ]);
  });

  it('F54: when the port of the registration is taken, a new one is registered', async () => {
    const { as, world } = await setUp();
    const auth = world.auth({ url: as.url });
    await auth.login();
    const port = Number(new URL((await world.logins.read(as.url))?.client?.redirectUri ?? '').port);
    const taken = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    open.push({ close: () => new Promise((resolve) => taken.close(() => resolve())) });
    await auth.login();
    expect(await call(auth, as.url)).toBe(200);
    expect(as.log.filter(({ path }) => path === '/register')).toHaveLength(2);
  });

  it.each(['client_secret_basic', 'client_secret_post'])(
    'AUT-2: speaks %s where that is all there is',
    async (method) => {
      const { as, world } = await setUp({ authMethods: [method] });
      const auth = world.auth({ url: as.url });
      await auth.login();
      expect(await call(auth, as.url)).toBe(200);
    },
  );

  it('AUT-2: a registration that the server has forgotten is made again in the same login', async () => {
    const { as, world } = await setUp();
    let visits = 0;
    const openUrl = async (url: string): Promise<void> => {
      const back = await approved(url);
      visits += 1;
      if (visits === 1) as.forgetClients();
      void fetch(back);
    };
    const auth = world.auth({ url: as.url }, { openUrl });
    await auth.login();
    expect(await call(auth, as.url)).toBe(200);
    expect(visits).toBe(2);
    expect(as.log.filter(({ path }) => path === '/register')).toHaveLength(2);
  });

  // Protocol: 25-authorization-24, 26-registration-1, 26-registration-20
  it('AUT-2: names the flags to give if there is no way to register', async () => {
    const { as, world } = await setUp({ registration: false });
    const error = await failure(world.auth({ url: as.url }).login());
    expect(error.toJSON()).toEqual({
      code: 'NEEDS_CLIENT_REGISTRATION',
      message: 'The authorization server of "docs" does not let programs register themselves',
      server: 'docs',
      hint: 'Register an application there with the redirect address http://127.0.0.1:<port>/oauth/callback, give oauth: { clientId, callbackPort } in the entry (and clientSecret if there is one), and call host.login("docs").',
    });
  });

  it("AUT-6: GitHub's server asks for a personal token", async () => {
    const { world } = await setUp();
    const auth = world.auth({ url: 'https://api.githubcopilot.com/mcp/' });
    const error = await failure(
      auth.challenged({ status: 401, wwwAuthenticate: 'Bearer', refused: undefined }),
    );
    expect(error.toJSON()).toEqual({
      code: 'NEEDS_AUTH',
      message: 'The server "docs" is GitHub\'s: it takes a personal access token instead of a login',
      server: 'docs',
      hint: 'Make a token at https://github.com/settings/personal-access-tokens, put it into a variable, and name that in the entry: bearerTokenEnvVar: "GITHUB_TOKEN".',
    });
  });
});

describe('the way back', () => {
  it('F54: a port in use is replaced by a free one, with a notice', async () => {
    const { as, world } = await setUp();
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    open.push({ close: () => new Promise((resolve) => taken.close(() => resolve())) });
    const address = taken.address();
    const callbackPort = typeof address === 'object' && address !== null ? address.port : 0;
    const auth = world.auth({ url: as.url, oauth: { callbackPort } });
    await auth.login();
    expect(await call(auth, as.url)).toBe(200);
    const redirectUri = as.log.find(({ path }) => path === '/authorize')?.query?.['redirect_uri'];
    expect(redirectUri).not.toContain(`:${callbackPort}/`);
    expect(world.events).toContainEqual({
      type: 'notice',
      server: 'docs',
      level: 'info',
      message: `Port ${callbackPort} is taken; the login uses ${redirectUri} instead.`,
    });
  });

  // Protocol: 25-authorization-88, 26-auth-security-21
  it('F54: two logins at once are bound to their own states', async () => {
    const first = await setUp();
    const second = await setUp();
    const one = keepUrl();
    const two = keepUrl();
    const oneAuth = first.world.auth({ url: first.as.url }, { openUrl: one.openUrl });
    const twoAuth = first.world.auth({ url: second.as.url }, { openUrl: two.openUrl });
    const logins = Promise.all([oneAuth.login(), twoAuth.login()]);
    const backOne = new URL(await approved(await one.opened));
    const backTwo = new URL(await approved(await two.opened));
    // The code of the one at the door of the other: turned away, and both still work.
    const crossed = new URL(backOne);
    crossed.port = backTwo.port;
    expect((await fetch(crossed)).status).toBe(400);
    const [oneAnswer, twoAnswer] = await Promise.all([fetch(backOne), fetch(backTwo), logins]);
    expect([oneAnswer.status, twoAnswer.status]).toEqual([200, 200]);
    expect(await call(oneAuth, first.as.url)).toBe(200);
    expect(await call(twoAuth, second.as.url)).toBe(200);
  });

  it('AUT-1: a pasted address finishes a login on a machine without a browser', async () => {
    const { as, world } = await setUp();
    const pastes: string[] = ['nonsense', 'http://127.0.0.1:1/oauth/callback?code=x&state=wrong'];
    let address = '';
    const auth = world.auth({ url: as.url });
    await auth.login({
      noBrowser: true,
      onUrl: (url, opened) => {
        address = url;
        expect(opened).toBe(false);
      },
      readPastedRedirect: async () => pastes.shift() ?? `  ${await approved(address)}\n`,
    });
    expect(await call(auth, as.url)).toBe(200);
    expect(world.events.filter((event) => event.type === 'notice')).toHaveLength(2);
  });

  it('AUT-3: a login begun in one place can be finished in another, once, within five minutes', async () => {
    const clock = fakeClock();
    const { as, world } = await setUp({}, { clock });
    const other = await openLoginWorld({ dir: world.home.dir, clock });
    open.push(other);
    const redirectUri = 'http://127.0.0.1:7420/oauth/callback';
    const begun = await world.auth({ url: as.url }).beginLogin({ redirectUri });
    const back = new URL(await approved(begun.authorizationUrl)).searchParams;
    const answer = { state: begun.state, code: back.get('code') ?? '', iss: back.get('iss') ?? '' };
    const finisher = other.auth({ url: as.url });
    await finisher.finishLogin(answer);
    expect(await call(finisher, as.url)).toBe(200);
    const again = await failure(finisher.finishLogin(answer));
    expect(again.message).toBe(
      'The login to "docs" failed: no login waits for this answer; it was finished already, or is older than five minutes.',
    );
    const late = await world.auth({ url: as.url }).beginLogin({ redirectUri });
    await clock.advance(300_001);
    expect((await failure(finisher.finishLogin({ state: late.state, code: 'x' }))).message).toBe(
      again.message,
    );
  });

  it('AUT-3: a login that waits is over when another process has finished it', async () => {
    const { as, world } = await setUp();
    const other = await openLoginWorld({ dir: world.home.dir });
    open.push(other);
    const kept = keepUrl();
    const waiting = world.auth({ url: as.url }, { openUrl: kept.openUrl }).login();
    const back = new URL(await approved(await kept.opened)).searchParams;
    const answer = {
      state: back.get('state') ?? '',
      code: back.get('code') ?? '',
      iss: back.get('iss') ?? '',
    };
    await other.auth({ url: as.url }).finishLogin(answer);
    await waiting;
    expect(as.grants()).toEqual(['authorization_code']);
  });

  it('A2: nothing that the browser brings is shown, and the page may run nothing', async () => {
    const { as, world } = await setUp();
    const kept = keepUrl();
    const auth = world.auth(
      { url: as.url },
      { server: '<img src=x onerror=alert(1)>', openUrl: kept.openUrl },
    );
    const login = auth.login();
    const back = new URL(await approved(await kept.opened));
    const evil = new URL(back);
    evil.searchParams.set('state', '<script>alert(1)</script>');
    evil.searchParams.set('error_description', '<script>alert(2)</script>');
    const turnedAway = await fetch(evil);
    const page = await fetch(back);
    await login;
    expect(await turnedAway.text()).not.toContain('script');
    const body = await page.text();
    expect(body).toContain('Logged in to &#60;img src=x onerror=alert(1)&#62;');
    expect(body).toContain('You may close this window.');
    expect(body).not.toContain('<img');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
  });

  // Protocol: 25-authorization-88, 26-auth-security-21
  it('turns away other hosts, methods and paths, and parameters that come twice', async () => {
    const { as, world } = await setUp();
    const kept = keepUrl();
    const login = world.auth({ url: as.url }, { openUrl: kept.openUrl }).login();
    const back = await approved(await kept.opened);
    const elsewhere = new URL(back);
    elsewhere.pathname = '/other';
    const statuses = [
      (await fetch(back, { method: 'POST' })).status,
      (await fetch(elsewhere)).status,
      (await fetch(`${back}&code=other`)).status,
      await foreignHost(back),
    ];
    expect(statuses).toEqual([400, 400, 400, 400]);
    expect((await fetch(back)).status).toBe(200);
    await login;
  });
});

/** The status for a request that names another host than the listener's own: a page that was rebound to loopback. */
async function foreignHost(url: string): Promise<number> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request(url, { headers: { host: 'evil.example' } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .once('error', reject)
      .end();
  });
}

describe('a changed authorization server', () => {
  // Protocol: 25-authorization-57, 26-auth-discovery-3, 26-auth-discovery-4, 26-authorization-43,
  // 26-registration-22, 26-registration-23
  it('A4: sees neither the client nor the tokens of the old one; a new login registers again', async () => {
    const old = await setUp();
    const fresh = await setUp();
    const auth = old.world.auth({ url: old.as.url });
    await auth.login();
    const oldSecrets = [...old.as.secrets];
    const oldClient = [...old.as.clients.keys()];
    // The swapped issuer protects its own url; what matters is what it gets to see.
    old.as.rules['resourceMetadata'] = { authorization_servers: [fresh.as.issuer] };
    old.as.expire();
    const swapped = await failure(auth.login());
    expect(swapped.message).toBe(
      'The login to "docs" failed: the authorization server responded with invalid_target.',
    );
    const seen = JSON.stringify(fresh.as.log);
    for (const secret of [...oldSecrets, ...oldClient]) expect(seen).not.toContain(secret);
    expect(fresh.as.log.filter(({ path }) => path === '/register')).toHaveLength(1);
  });

  it('A4: refreshing still goes to the issuer of the login, whatever the metadata contains now', async () => {
    const clock = fakeClock();
    const old = await setUp({}, { clock });
    const fresh = await setUp();
    const auth = old.world.auth({ url: old.as.url });
    await auth.login();
    old.as.rules['resourceMetadata'] = { authorization_servers: [fresh.as.issuer] };
    await clock.advance(3_600_000);
    expect(await call(auth, old.as.url)).toBe(200);
    expect(old.as.grants()).toEqual(['authorization_code', 'refresh_token']);
    expect(fresh.as.log).toEqual([]);
  });

  // Protocol: 26-registration-24
  it('A4: a configured secret is not sent to it by a new login either', async () => {
    const old = await setUp();
    const fresh = await setUp();
    const entry = { url: old.as.url, oauth: { clientId: 'mine', clientSecret: 'configured-secret' } };
    const openUrl = async (url: string): Promise<void> => {
      const client = {
        redirectUris: [new URL(url).searchParams.get('redirect_uri')],
        secret: 'configured-secret',
      };
      old.as.clients.set('mine', client);
      await browse(url);
    };
    const auth = old.world.auth(entry, { openUrl });
    await auth.login();
    old.as.rules['resourceMetadata'] = { authorization_servers: [fresh.as.issuer] };
    const error = await failure(auth.login());
    expect(error.toJSON()).toEqual({
      code: 'AUTH_FAILED',
      message: `The login to "docs" failed: it now names another authorization server (${fresh.as.issuer}, before: ${old.as.issuer}), which must not see the client secret of the first.`,
      server: 'docs',
      hint: 'If the change is right, call host.logout("docs"), then log in again.',
    });
    expect(fresh.as.log.map(({ path }) => path)).toEqual(['/.well-known/oauth-authorization-server']);
  });
});
