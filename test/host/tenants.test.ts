/** One back end, many users: a host for each, credentials in the back end's own store, nothing of the machine. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost, type Host } from '../../src/host/host.ts';
import type { CredentialStore, HostOptions } from '../../src/index.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { storeFor } from '../fixtures/tenant-store.mjs';
import { failure } from '../world/failure.ts';

const PROGRAM = fileURLToPath(new URL('../fixtures/tenant-store.mjs', import.meta.url));
const REDIRECT = 'https://app.example/callback';

let as: AuthServer;
let folder: string;
let rows: string;
const hosts: Host[] = [];

beforeEach(async () => {
  as = await startAuthServer({ webRedirects: true });
  folder = await mkdtemp(join(tmpdir(), 'plugboard-tenants-'));
  rows = join(folder, 'rows.json');
});
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
  await as.close();
  await rm(folder, { recursive: true, force: true });
});

async function hostOf(credentials: CredentialStore, more: HostOptions = {}): Promise<Host> {
  const host = await createHost({
    home: false,
    configuration: false,
    env: {},
    connect: 'none',
    approve: () => 'allow',
    credentials,
    servers: { docs: { url: as.url } },
    ...more,
  });
  hosts.push(host);
  return host;
}

async function callbackOf(authorizationUrl: string): Promise<URLSearchParams> {
  const back = (await fetch(authorizationUrl, { redirect: 'manual' })).headers.get('location') ?? '';
  expect(back.startsWith(`${REDIRECT}?`)).toBe(true);
  return new URL(back).searchParams;
}

/** What the browser of a user who agrees brings back to the route of the back end. */
async function broughtBack(authorizationUrl: string): Promise<{ code: string; state: string; iss: string }> {
  const params = await callbackOf(authorizationUrl);
  return { code: params.get('code') ?? '', state: params.get('state') ?? '', iss: params.get('iss') ?? '' };
}

const echo = async (host: Host, text: string): Promise<unknown> => {
  await host.connect('docs');
  return (await host.call('mcp__docs__echo', { text })).content;
};

describe('logins of users of a web back end', () => {
  it('begin in one process and end in another, each for its own user', async () => {
    const ada = await hostOf(storeFor(rows, 'ada'));
    expect(await failure(ada.connect('docs'))).toMatchObject({ code: 'NEEDS_AUTH' });
    const begun = await ada.login('docs', { redirectUrl: REDIRECT });
    const answer = await broughtBack(begun.authorizationUrl);
    expect(answer.state).toBe(begun.state);

    // The session of another user cannot finish it, and leaves it as it was.
    const bob = await hostOf(storeFor(rows, 'bob'));
    expect((await failure(bob.finishLogin('docs', answer))).code).toBe('AUTH_FAILED');

    const given = JSON.stringify({ file: rows, user: 'ada', url: as.url, answer });
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, given]);
    expect(stdout.trim()).toBe('for ada');
    // An answer is used once.
    expect((await failure(ada.finishLogin('docs', answer))).code).toBe('AUTH_FAILED');
    // The host that was there before finds the login when it needs it.
    expect(await echo(ada, 'again')).toEqual([{ type: 'text', text: 'again' }]);
    expect(await ada.credentialPlace('docs')).toBe('store');

    expect(await failure(bob.connect('docs'))).toMatchObject({ code: 'NEEDS_AUTH' });
    const second = await bob.login('docs', { redirectUrl: new URL(REDIRECT) });
    for (const given of [{}, { state: ['a', 'b'] }, { state: 'a', code: ['b'] }]) {
      // As a framework may give what a browser sent.
      const refused = await failure(bob.finishLogin('docs', given as unknown as URLSearchParams));
      expect(refused).toMatchObject({
        code: 'AUTH_FAILED',
        message: expect.stringContaining('the answer held'),
      });
    }
    await bob.finishLogin('docs', await callbackOf(second.authorizationUrl));
    expect(await echo(bob, 'bob')).toEqual([{ type: 'text', text: 'bob' }]);
    const kept = Object.keys(JSON.parse(await readFile(rows, 'utf8'))).map((key) =>
      key.replace(/[0-9a-f]{32}/, '…'),
    );
    expect(kept.sort()).toEqual(['ada login:…', 'bob login:…']);

    expect(await ada.logout('docs')).toBe(true);
    expect(await echo(bob, 'still')).toEqual([{ type: 'text', text: 'still' }]);
  });

  it('are renewed once under the lock of the store', async () => {
    const rowsOf = new Map<string, string>();
    const locked: string[] = [];
    const credentials: CredentialStore = {
      get: (key) => rowsOf.get(key) ?? null,
      set: (key, value) => rowsOf.set(key, value),
      delete: (key) => rowsOf.delete(key),
      lock: async (key, work) => {
        locked.push(key.replace(/[0-9a-f]{32}/, '…'));
        return work();
      },
    };
    const clock = fakeClock();
    const host = await hostOf(credentials, { clock });
    const { authorizationUrl } = await host.login('docs', { redirectUrl: REDIRECT });
    await host.finishLogin('docs', await broughtBack(authorizationUrl));
    await host.connect('docs');
    await clock.advance(3_600_000);
    await host.connect('docs');
    await Promise.all(['a', 'b', 'c'].map((text) => host.call('mcp__docs__echo', { text })));
    expect(as.grants()).toEqual(['authorization_code', 'refresh_token']);
    expect(new Set(locked)).toEqual(new Set(['lock:pending:…', 'lock:…']));
  });

  it('need an address of the back end that a browser can be sent to', async () => {
    const host = await hostOf(storeFor(rows, 'ada'));
    for (const redirectUrl of ['http://app.example/callback', 'nonsense', `${REDIRECT}#part`]) {
      expect(await failure(host.login('docs', { redirectUrl }))).toMatchObject({
        code: 'USAGE',
        message: 'The redirectUrl is not an https address, or has a fragment',
      });
    }
  });
});

describe('a host without a home and without files', () => {
  it('LIB-1: reads no configuration of the machine, keeps nothing, and starts local servers all the same', async () => {
    const home = join(folder, '.config', 'plugboard');
    await mkdir(home, { recursive: true });
    const entry = { mcpServers: { mine: { command: 'node' } } };
    await writeFile(join(home, 'config.json'), JSON.stringify(entry));
    await writeFile(join(folder, '.mcp.json'), JSON.stringify(entry));
    const messages: string[] = [];
    const server = fileURLToPath(new URL('../fixtures/modern.mjs', import.meta.url));
    const host = await hostOf(storeFor(rows, 'ada'), {
      cwd: folder,
      env: { HOME: folder, PATH: process.env['PATH'] },
      log: ({ message }) => messages.push(message),
      approve: () => 'allow-session',
      servers: { echo: { command: process.execPath, args: [server] } },
    });
    expect(host.servers().map(({ name }) => name)).toEqual(['echo']);
    await host.connect('echo');
    expect((await host.call('mcp__echo__add', { a: 1, b: 2 })).isError).toBe(false);
    const long = await host.call('mcp__echo__echo', { message: 'x'.repeat(200_000) });
    expect([long.isError, JSON.stringify(long.content).length < 200_000]).toEqual([false, true]);
    const [{ pid } = {}] = host.servers();
    const startedIn = await readlink(`/proc/${pid}/cwd`);
    await host.close();
    expect(existsSync(dirname(startedIn))).toBe(false);
    expect(messages).toEqual(['echo: about 50000 tokens were cut to 25000; the rest is lost']);
  });
});
