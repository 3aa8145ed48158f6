import { afterEach, describe, expect, it } from 'vitest';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { browse } from '../world/login-world.ts';
import { type ManagedGateway, openManagedGateway, readEvents } from '../world/managed-gateway.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const opened: string[] = [];
async function setUp(): Promise<{ world: ManagedGateway; auth: AuthServer }> {
  opened.length = 0;
  const auth = await startAuthServer();
  const world = await openManagedGateway({
    host: {
      servers: { docs: { url: auth.url, lifecycle: 'eager' } },
      replaceTransport: () => undefined,
      openUrl: async (url) => {
        opened.push(url);
        await browse(url);
      },
    },
  });
  open.push(auth, world);
  return { world, auth };
}

/** Where the browser would have ended, without going there. */
async function redirectOf(authorizationUrl: string): Promise<URL> {
  const answer = await fetch(authorizationUrl, { redirect: 'manual' });
  return new URL(answer.headers.get('location') ?? '');
}

describe('SRV-5: logins', () => {
  it('start, follow the browser, and the server is connected', async () => {
    const { world } = await setUp();
    const reader = await readEvents(world);
    open.push(reader);
    expect((await world.api('GET', '/api/servers/docs')).body).toMatchObject({ status: 'needs_auth' });
    const first = await world.api('POST', '/api/servers/docs/auth');
    const again = await world.api('POST', '/api/servers/docs/auth');
    expect([first.status, again.body]).toEqual([200, first.body]);
    const { authorizationUrl } = first.body as { authorizationUrl: string };
    expect(new URL(authorizationUrl).searchParams.get('redirect_uri')).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/oauth\/callback$/,
    );
    await browse(authorizationUrl);
    await reader.next(
      ({ event, data }) => event === 'server' && (data as { status: string }).status === 'connected',
    );
    expect(reader.seen.flatMap(({ event, data }) => (event === 'login' ? [data] : []))).toEqual([
      { server: 'docs', state: 'waiting', url: authorizationUrl, opened: false },
      { server: 'docs', state: 'done' },
    ]);
    expect(opened).toEqual([]);
  });

  it('start and finish with the code; the event is sent once, and no second answer is accepted', async () => {
    const { world } = await setUp();
    const reader = await readEvents(world);
    open.push(reader);
    const { authorizationUrl } = (await world.api('POST', '/api/servers/docs/auth')).body as {
      authorizationUrl: string;
    };
    const { searchParams } = await redirectOf(authorizationUrl);
    const answer = Object.fromEntries(searchParams);
    const wrong = await world.api('POST', '/api/servers/docs/auth/callback', { ...answer, state: 'other' });
    expect([wrong.status, wrong.body]).toMatchObject([
      400,
      { error: { code: 'AUTH_FAILED', server: 'docs' } },
    ]);
    const finished = await world.api('POST', '/api/servers/docs/auth/callback', answer);
    expect([finished.status, finished.body]).toMatchObject([
      200,
      { name: 'docs', status: 'connected', credentials: 'file' },
    ]);
    const twice = await world.api('POST', '/api/servers/docs/auth/callback', answer);
    expect(twice.status).toBe(400);
    await reader.next(({ data }) => (data as { state?: string }).state === 'done');
    const states = reader.seen.flatMap(({ event, data }) =>
      event === 'login' ? [(data as { state: string }).state] : [],
    );
    expect(states).toEqual(['waiting', 'done']);
  });

  it('start, open the browser and wait; then forget', async () => {
    const { world, auth } = await setUp();
    const done = await world.api('POST', '/api/servers/docs/auth/authenticate');
    expect([done.status, done.body, opened.length]).toMatchObject([200, { status: 'connected' }, 1]);
    expect([...auth.secrets].filter((secret) => done.text.includes(secret))).toEqual([]);
    const removed = await world.api('DELETE', '/api/servers/docs/auth');
    const nothing = await world.api('DELETE', '/api/servers/docs/auth');
    expect([removed.body, nothing.body]).toEqual([
      { name: 'docs', removed: true },
      { name: 'docs', removed: false },
    ]);
    await expect.poll(() => world.host.servers()[0]?.status).toBe('needs_auth');
    const connected = await world.api('POST', '/api/servers/docs/connect');
    expect([connected.status, connected.body]).toMatchObject([409, { error: { code: 'NEEDS_AUTH' } }]);
  });

  it('a login that waits can be given up, and a gateway that closes gives it up', async () => {
    const { world } = await setUp();
    const reader = await readEvents(world);
    open.push(reader);
    await world.api('POST', '/api/servers/docs/auth');
    await world.api('DELETE', '/api/servers/docs/auth');
    await reader.next(({ data }) => (data as { state?: string }).state === 'failed');
    await world.api('POST', '/api/servers/docs/auth');
    await world.served.close();
  });

  it('refuse a server that runs on this machine', async () => {
    const world = await openManagedGateway();
    open.push(world);
    const answer = await world.api('POST', '/api/servers/small/auth');
    expect([answer.status, answer.body]).toMatchObject([400, { error: { code: 'USAGE' } }]);
  });
});
