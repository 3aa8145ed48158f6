import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runHeadersHelper } from '../../src/auth/headers-helper.ts';
import { startAuthServer } from '../fixtures/auth-server.mjs';
import { failure } from '../world/failure.ts';
import { call, type LoginWorld, openLoginWorld, SOON } from '../world/login-world.ts';
import { isRunning } from '../world/processes.ts';

const url = 'https://mcp.example.com/mcp';
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function world(env: NodeJS.ProcessEnv = {}): Promise<LoginWorld> {
  const made = await openLoginWorld({ env });
  open.push(made);
  return made;
}

describe('configured credentials', () => {
  it('AUT-5: a configured Authorization header beats a token from the environment, which beats a stored login', async () => {
    const as = await startAuthServer();
    open.push(as);
    const here = await world({ TOKEN: 'from-env', HEADER: 'Bearer from-header-variable' });
    await here.auth({ url: as.url }).login();
    const stored = { authorization: expect.stringMatching(/^Bearer access-/) };
    const cases = [
      [{ url: as.url }, stored, 'file'],
      [{ url: as.url, bearerTokenEnvVar: 'TOKEN' }, { authorization: 'Bearer from-env' }, 'env'],
      [{ url: as.url, bearerTokenEnvVar: 'UNSET' }, stored, 'file'],
      [
        { url: as.url, bearerTokenEnvVar: 'TOKEN', headers: { AUTHORIZATION: 'Basic abc' } },
        { AUTHORIZATION: 'Basic abc' },
        'env',
      ],
      [
        { url: as.url, headers: { Authorization: 'Basic abc' }, headersFromEnv: { authorization: 'HEADER' } },
        { authorization: 'Bearer from-header-variable' },
        'env',
      ],
      [{ url: as.url, oauth: false }, {}, 'none'],
    ] as const;
    for (const [entry, headers, place] of cases) {
      const auth = here.auth(entry);
      expect(await auth.headers()).toEqual(headers);
      expect(await auth.credentialPlace()).toBe(place);
    }
  });

  it('a variable that is not set fails this server, by its name', async () => {
    const auth = (await world()).auth({ url, headersFromEnv: { 'X-Key': 'DOCS_KEY' } });
    expect((await failure(async () => auth.headers())).toJSON()).toEqual({
      code: 'CONFIG_INVALID',
      message: 'The header X-Key of "docs" comes from the variable DOCS_KEY, which is not set',
      server: 'docs',
      hint: 'Set DOCS_KEY, then try again.',
    });
  });

  // Protocol: 25-authorization-50, 26-authorization-36
  it('A19: a value with a line break goes into no header, and the error does not show it', async () => {
    const here = await world({ KEY: 'secret\r\nX-Evil: 1', TOKEN: 'secret\u0001' });
    for (const entry of [
      { url, headers: { 'X-Key': 'secret\nX-Evil: 1' } },
      { url, headersFromEnv: { 'X-Key': 'KEY' } },
      { url, bearerTokenEnvVar: 'TOKEN' },
      { url, headersHelper: `printf '{"X-Key":"secret\\\\r\\\\nX: 1"}'` },
    ]) {
      const error = await failure(async () => here.auth(entry).headers());
      expect(error.code).toBe('CONFIG_INVALID');
      expect(JSON.stringify(error)).not.toContain('secret');
    }
  });

  it('F42: a rejected header or variable is named, without a hint to log in', async () => {
    const here = await world({ TOKEN: 'old' });
    const refused = { status: 401, wwwAuthenticate: 'Bearer', refused: 'Bearer old' } as const;
    const byVariable = await failure(here.auth({ url, bearerTokenEnvVar: 'TOKEN' }).challenged(refused));
    expect(byVariable.toJSON()).toEqual({
      code: 'NEEDS_AUTH',
      message: 'The server "docs" refused the credentials from the variable TOKEN (401)',
      server: 'docs',
      hint: 'Put a valid value into the variable TOKEN.',
    });
    const unset = await failure(here.auth({ url, bearerTokenEnvVar: 'UNSET' }).challenged(refused));
    expect(unset.message).toBe('The server "docs" takes its token from the variable UNSET, which is not set');
    const byHeader = await failure(here.auth({ url, headers: { Authorization: 'x' } }).challenged(refused));
    expect(byHeader.message).toBe(
      'The server "docs" refused the credentials from the Authorization header of its entry (401)',
    );
    const off = await failure(here.auth({ url, oauth: false }).challenged(refused));
    expect(off.message).toBe(
      '"docs" requires a login: it asks for credentials, and its entry has "oauth": false.',
    );
  });
});

describe('headersHelper', () => {
  it('CFG-1: its headers go over the others; it runs once, and again after a refusal', async () => {
    const here = await world({ EXTRA: 'from-env' });
    const counter = join(here.home.dir, 'count');
    await writeFile(counter, '');
    const headersHelper = `printf x >> "${counter}"; printf '{"Authorization":"Bearer %s","x-name":"%s"}' "$(wc -c < "${counter}" | tr -d ' ')" "$PLUGBOARD_SERVER_NAME"`;
    const auth = here.auth({ url, headersHelper, headers: { 'X-Name': 'written', 'X-Other': 'kept' } });
    const first = { 'X-Other': 'kept', Authorization: 'Bearer 1', 'x-name': 'docs' };
    expect(await Promise.all([auth.headers(), auth.headers()])).toEqual([first, first]);
    expect(auth.headers()).toEqual(first);
    await auth.challenged({ status: 401, wwwAuthenticate: undefined, refused: 'Bearer 1' });
    expect(await auth.headers()).toEqual({ ...first, Authorization: 'Bearer 2' });
    expect(await readFile(counter, 'utf8')).toBe('xx');
  });

  it('that prints the same again after a refusal is named', async () => {
    const auth = (await world()).auth({ url, headersHelper: `echo '{"Authorization":"Bearer same"}'` });
    await auth.headers();
    const error = await failure(
      auth.challenged({ status: 401, wwwAuthenticate: undefined, refused: 'Bearer same' }),
    );
    expect(error.message).toBe('The server "docs" refused the credentials from its headersHelper (401)');
  });

  it.each([
    ['exit 3', 'it ended with status 3'],
    ['echo secret-text', 'it did not print a JSON object of strings'],
    [`echo '{"a":1}'`, 'it did not print a JSON object of strings'],
    ['head -c 70000 /dev/zero', 'it printed more than 64 KiB'],
    ['kill -9 $$', 'it ended with SIGKILL'],
  ])('fails with a reason for %j and shows nothing that it printed', async (headersHelper, reason) => {
    const auth = (await world()).auth({ url, headersHelper });
    expect((await failure(async () => auth.headers())).toJSON()).toEqual({
      code: 'AUTH_FAILED',
      message: `The headersHelper of "docs" failed: ${reason}`,
      server: 'docs',
      hint: 'Run the command of its headersHelper by hand to see what is wrong.',
    });
  });

  it('that takes too long is ended with everything that it started', async () => {
    const here = await world();
    const pids = join(here.home.dir, 'pids');
    const command = `sleep 300 & echo $! > "${pids}"; echo $$ >> "${pids}"; wait`;
    const error = await failure(
      runHeadersHelper({ server: 'docs', url, command, env: here.env, timeoutMs: 500 }),
    );
    expect(error.message).toBe('The headersHelper of "docs" failed: it took longer than 10 seconds');
    const started = (await readFile(pids, 'utf8')).trim().split('\n').map(Number);
    expect(started).toHaveLength(2);
    await expect.poll(() => started.map(isRunning), SOON).toEqual([false, false]);
  });

  it('is ended when its server is closed', async () => {
    const here = await world();
    const pids = join(here.home.dir, 'pids');
    const auth = here.auth({ url, headersHelper: `echo $$ > "${pids}"; sleep 300` });
    const work = failure(async () => auth.headers());
    await expect.poll(() => readFile(pids, 'utf8').catch(() => ''), SOON).toMatch(/^\d+\n$/);
    auth.close();
    expect((await work).code).toBe('CANCELLED');
    const pid = Number(await readFile(pids, 'utf8'));
    await expect.poll(() => isRunning(pid), SOON).toBe(false);
  });

  it('AUT-5: works against a server that asks for what it prints', async () => {
    const as = await startAuthServer();
    open.push(as);
    const here = await world();
    await here.auth({ url: as.url }).login();
    const stored = await here.logins.read(as.url);
    const token = join(here.home.dir, 'token');
    await writeFile(token, 'wrong');
    const headersHelper = `printf '{"Authorization":"Bearer %s"}' "$(cat "${token}")"`;
    const auth = here.auth({ url: as.url, headersHelper });
    await auth.headers();
    await writeFile(token, stored?.tokens?.access ?? '');
    expect(await call(auth, as.url)).toBe(200);
  });
});
