import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RemoteEntry, ServerEntry } from '../../src/config/entry.ts';
import { createHost, type Host } from '../../src/host/host.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { LineClient, MODERN } from '../serve/line-client.ts';
import { failure } from '../world/failure.ts';
import { startPlainLogin, TOKEN_LIFE_MS } from './plain-login.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-logins-'));
  closers.push(() => rm(home, { recursive: true, force: true }));
  return home;
}

async function authServer(rules: Record<string, unknown> = {}): Promise<AuthServer> {
  const as = await startAuthServer(rules);
  closers.push(() => as.close());
  return as;
}

interface HostSetup {
  readonly servers: Record<string, ServerEntry>;
  readonly home?: string;
  readonly openUrl?: (url: string) => Promise<void>;
  readonly clock?: Clock;
}

async function hostOf({ servers, home, openUrl, clock = systemClock }: HostSetup): Promise<Host> {
  const host = await createHost({
    home: home ?? (await newHome()),
    cwd: tmpdir(),
    env: { PLUGBOARD_CREDENTIALS: 'file', PATH: process.env['PATH'] },
    watch: false,
    clock,
    servers,
    ...(openUrl === undefined ? {} : { openUrl }),
  });
  closers.push(() => host.close());
  return host;
}

/** A browser that is signed in already: it is back before it has shown anything, and waits for the page at the end. */
async function signedIn(url: string): Promise<void> {
  const page = await fetch(url);
  await page.text();
  if (page.status !== 200) throw new Error(`the browser ended with ${page.status}`);
}

const statusOf = (host: Host, name: string): string | undefined =>
  host.servers().find((server) => server.name === name)?.status;

describe('logins', () => {
  it('F65: a browser that answers before its opener returns is let in, and ready() then has the tools', async () => {
    const as = await authServer();
    const host = await hostOf({ servers: { a: { url: as.url } }, openUrl: signedIn });
    await host.ready();
    const before = statusOf(host, 'a');
    await host.login('a');
    await host.ready();
    expect({ before, after: statusOf(host, 'a'), tools: host.tools().length > 0 }).toEqual({
      before: 'needs_auth',
      after: 'connected',
      tools: true,
    });
  });

  // Protocol: 25-authorization-42, 25-authorization-48, 26-authorization-28, 26-authorization-34
  it.each(['without protected-resource metadata', 'with endpoints by hand'])(
    'AUT-1: resource is sent in every request %s',
    async (how) => {
      const plain = await startPlainLogin();
      closers.push(() => plain.close());
      const { origin, url } = plain;
      const oauth = {
        clientId: 'mine',
        authorizationUrl: `${origin}/authorize`,
        tokenUrl: `${origin}/token`,
      };
      // What may be secret in an address is not part of it.
      const entry: RemoteEntry = { url: `${url}?key=secret`, ...(how.includes('hand') ? { oauth } : {}) };
      let aheadMs = 0;
      const clock: Clock = { ...systemClock, now: () => Date.now() + aheadMs };
      const host = await hostOf({ servers: { a: entry }, openUrl: signedIn, clock });
      await host.ready();
      await host.login('a');
      await host.ready();
      expect(statusOf(host, 'a')).toBe('connected');
      aheadMs = TOKEN_LIFE_MS;
      await host.refresh('a');
      expect(plain.resources).toEqual([
        ['/authorize', url],
        ['/token', url],
        ['/token', url],
      ]);
    },
  );

  it('AUT-2: a server whose authorization server accepts no unknown clients is reported as such, also to the next host', async () => {
    const as = await authServer({ registration: false });
    const home = await newHome();
    const servers = { a: { url: as.url } };
    const host = await hostOf({ servers, home, openUrl: signedIn });
    await host.ready();
    const error = await failure(host.login('a'));
    const [report] = host.servers();
    await host.close();
    const next = await hostOf({ servers, home });
    await next.ready();
    const [again] = next.servers();
    // Its own remedy, and no way back to the same login.
    const wanted = {
      status: 'needs_client_registration',
      error: {
        code: 'NEEDS_CLIENT_REGISTRATION',
        hint: expect.stringContaining('oauth: { clientId, callbackPort }'),
      },
    };
    expect({ code: error.code, report, again }).toMatchObject({
      code: 'NEEDS_CLIENT_REGISTRATION',
      report: wanted,
      again: wanted,
    });
    await next.close();
    const registered = { a: { url: as.url, oauth: { clientId: 'mine' } } };
    const third = await hostOf({ servers: registered, home });
    await third.ready();
    expect(statusOf(third, 'a')).toBe('needs_auth');
  });
});

const NOWHERE = { command: join(tmpdir(), 'plugboard-no-such-program') };
const ECHO = {
  command: process.execPath,
  args: [join(import.meta.dirname, 'details-server.mjs'), '--modern'],
};

async function lineClient(host: Host, version: string): Promise<LineClient> {
  const client = new LineClient(host, version, {}, () => ({}));
  closers.push(() => client.leave());
  return client;
}

describe.each(['2025-11-25', MODERN])('required and disconnected servers, for a client of %s', (version) => {
  it('CON-9: a gateway on stdio answers with the reason while a required server is missing', async () => {
    const host = await hostOf({ servers: { needed: { ...NOWHERE, required: true }, other: ECHO } });
    const client = await lineClient(host, version);
    await expect(client.open()).rejects.toMatchObject({
      message: expect.stringContaining('The required server needed is not there'),
      data: { code: 'REQUIRED_FAILED', server: 'needed' },
    });
    await expect(client.request('tools/list')).rejects.toMatchObject({ data: { code: 'REQUIRED_FAILED' } });
  });

  it('CON-9: a required server that is known from the cache must be there too', async () => {
    const home = await newHome();
    const file = join(home, 'server.mjs');
    await copyFile(join(import.meta.dirname, 'raw-server.mjs'), join(home, 'raw-server.mjs'));
    await copyFile(join(import.meta.dirname, 'details-server.mjs'), file);
    const servers = { needed: { command: process.execPath, args: [file, '--modern'], required: true } };
    const first = await hostOf({ servers, home });
    await first.ready();
    await first.close();
    await rm(file);
    const host = await hostOf({ servers, home });
    const known = host.tools().length > 0;
    const ready = await failure(host.ready());
    const client = await lineClient(host, version);
    await expect(client.open()).rejects.toMatchObject({
      data: { code: 'REQUIRED_FAILED', server: 'needed' },
    });
    expect({ known, code: ready.code }).toEqual({ known: true, code: 'REQUIRED_FAILED' });
  });

  it('CON-10: a tool of a disconnected server is refused with that reason', async () => {
    const host = await hostOf({ servers: { other: ECHO } });
    await host.ready();
    const client = await lineClient(host, version);
    await client.open();
    await host.disconnect('other');
    const answer = await client.request('tools/call', { name: 'other__asks', arguments: {} });
    const error = await failure(host.call('mcp__other__asks'));
    expect({ answer, error: error.toJSON() }).toMatchObject({
      answer: {
        isError: true,
        content: [{ text: expect.stringContaining('other is disconnected') }],
        _meta: { 'plugboard/code': 'CONNECTION_LOST' },
      },
      error: { code: 'CONNECTION_LOST', message: 'other is disconnected', hint: 'Connect it again first.' },
    });
  });
});
