import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { type LoginWorld, openLoginWorld, SOON } from '../world/login-world.ts';

const CALLER = fileURLToPath(new URL('../fixtures/auth-caller.mjs', import.meta.url));
const open: { close(): Promise<void> }[] = [];
const children = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  for (const one of open.splice(0).reverse()) await one.close();
});

async function loggedIn(rules: Record<string, unknown> = {}): Promise<{ as: AuthServer; world: LoginWorld }> {
  const as = await startAuthServer(rules);
  const world = await openLoginWorld();
  open.push(as, world);
  await world.auth({ url: as.url }).login();
  return { as, world };
}

interface Caller {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

function start(world: LoginWorld, url: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Caller {
  const child = spawn(process.execPath, [CALLER, world.home.dir, url, ...args], {
    env: { ...world.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  children.add(child);
  let stdout = '';
  let stderr = '';
  const lines: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
    lines.splice(0, lines.length, ...stdout.split('\n').filter((line) => line !== ''));
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once('close', (code) => {
      children.delete(child);
      resolve({ code, stdout, stderr });
    });
  });
  return { child, lines, ended };
}

/** Makes the stored token old by our clock, as an hour of sleep would. */
async function makeExpired(world: LoginWorld, as: AuthServer): Promise<void> {
  await world.logins.locked(as.url, async (held) => {
    const login = await held.read();
    if (login?.tokens === undefined) throw new Error('There is no login.');
    const past = Date.now() - 3_600_000;
    const tokens = { ...login.tokens, obtainedAt: past - 3_600_000, expiresAt: past };
    await held.write({ ...login, tokens }, 'renewal');
  });
  as.expire();
}

/** How many answers were good, out of the last line of a caller. */
function good(stdout: string): number {
  return (JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { good: number }).good;
}

const refreshes = (as: AuthServer): number => as.grants().filter((grant) => grant === 'refresh_token').length;

describe('several processes', () => {
  it('F47: eight with one expired rotating token and 50 calls each: one refresh, 400 good answers', async () => {
    const { as, world } = await loggedIn();
    await makeExpired(world, as);
    const callers = Array.from({ length: 8 }, () => start(world, as.url, ['50']));
    const results = await Promise.all(callers.map(({ ended }) => ended));
    expect(results.map(({ stdout }) => good(stdout))).toEqual([50, 50, 50, 50, 50, 50, 50, 50]);
    expect(refreshes(as)).toBe(1);
  });

  it('F47: eight whose token the server refuses before its time: one refresh, 400 good answers', async () => {
    const { as, world } = await loggedIn();
    // Too old to be taken for just renewed, and valid by our clock: only the 401 shows that it is not.
    await world.logins.locked(as.url, async (held) => {
      const login = await held.read();
      if (login?.tokens === undefined) throw new Error('There is no login.');
      await held.write(
        { ...login, tokens: { ...login.tokens, obtainedAt: Date.now() - 600_000 } },
        'renewal',
      );
    });
    as.expire();
    const callers = Array.from({ length: 8 }, () => start(world, as.url, ['50']));
    const results = await Promise.all(callers.map(({ ended }) => ended));
    expect(results.map(({ stdout }) => good(stdout))).toEqual([50, 50, 50, 50, 50, 50, 50, 50]);
    expect(refreshes(as)).toBe(1);
  });

  it('F49: a lock holder that is killed blocks no other', async () => {
    const { as, world } = await loggedIn();
    await makeExpired(world, as);
    const holder = start(world, as.url, ['0', 'hold']);
    await expect.poll(() => holder.lines, SOON).toEqual(['held']);
    const next = start(world, as.url, ['1']);
    // Another login, without a lock holder, is renewed from start to end while we wait: time enough for this one.
    const free = await loggedIn();
    await makeExpired(free.world, free.as);
    expect(good((await start(free.world, free.as.url, ['1']).ended).stdout)).toBe(1);
    expect([refreshes(as), next.child.exitCode]).toEqual([0, null]);
    holder.child.kill('SIGKILL');
    expect(good((await next.ended).stdout)).toBe(1);
    expect(refreshes(as)).toBe(1);
  });

  it('AUT-6: a running host notices the login and the logout of another process', async () => {
    const as = await startAuthServer();
    const world = await openLoginWorld();
    open.push(as, world);
    const watcher = start(world, as.url, ['0', 'wait']);
    await expect.poll(() => watcher.lines, SOON).toEqual(['waiting']);
    expect((await start(world, as.url, ['1', 'login']).ended).stdout.trim()).toBe(
      JSON.stringify({ good: 1, errors: [] }),
    );
    await expect.poll(() => watcher.lines, SOON).toEqual(['waiting', 'changed: file']);
    await start(world, as.url, ['0', 'logout']).ended;
    await expect.poll(() => watcher.lines, SOON).toEqual(['waiting', 'changed: file', 'changed: none']);
    watcher.child.stdin?.end();
    await watcher.ended;
    // The server received the revocation as well.
    expect(as.log.filter(({ path }) => path === '/revoke').map(({ token }) => token)).toEqual([
      expect.stringMatching(/^refresh-/),
    ]);
  });

  it('a call with a valid stored token loads no SDK', async () => {
    const { as, world } = await loggedIn();
    const coverage = await mkdtemp(join(tmpdir(), 'plugboard-coverage-'));
    open.push({ close: () => rm(coverage, { recursive: true, force: true }) });
    const result = await start(world, as.url, ['1'], { NODE_V8_COVERAGE: coverage }).ended;
    expect(result.stdout.trim()).toBe(JSON.stringify({ good: 1, errors: [] }));
    // What the engine ran, from itself: our own files are in it, so the list is a real one.
    const loaded: string[] = [];
    for (const name of await readdir(coverage)) {
      const report = JSON.parse(await readFile(join(coverage, name), 'utf8')) as {
        result: { url: string }[];
      };
      loaded.push(...report.result.map(({ url }) => url));
    }
    expect(loaded.some((url) => url.endsWith('/dist/auth/server-auth.js'))).toBe(true);
    expect(loaded.filter((url) => url.includes('@modelcontextprotocol'))).toEqual([]);
  });

  it('A6: no token, code, verifier or secret is in anything that the logins of these processes print', async () => {
    const as = await startAuthServer({ authMethods: ['client_secret_post'] });
    const world = await openLoginWorld();
    open.push(as, world);
    const printed: string[] = [];
    const run = async (args: readonly string[]): Promise<void> => {
      const { stdout, stderr } = await start(world, as.url, args, { NODE_DEBUG: 'plugboard' }).ended;
      printed.push(stdout, stderr);
    };
    await run(['1']);
    await run(['1', 'login']);
    await makeExpired(world, as);
    await run(['2']);
    as.rules['tokenEndpoint'] = 'drop';
    await makeExpired(world, as);
    await run(['1']);
    as.rules['tokenEndpoint'] = 'ok';
    await run(['1']);
    as.rules['issuerInAnswer'] = 'wrong';
    await run(['1', 'login']);
    await run(['0', 'logout']);
    const text = printed.join('\n');
    // The flows above went well and badly: there was something to print.
    expect(text).toContain('"state":"done"');
    expect(text).toContain('invalid_grant');
    expect(as.secrets.size).toBeGreaterThan(8);
    for (const secret of as.secrets) expect(text).not.toContain(secret);
  });
});
