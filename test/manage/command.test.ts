/** Management as the command serves it, from outside: with its token, and with what the machine's manager denies. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND, FIXTURES, Place } from '../cli/command.ts';
import { send } from '../world/managed-gateway.ts';

const ACCEPT = 'application/json, text/event-stream';
let place: Place;
const running: ChildProcess[] = [];
beforeEach(() => {
  place = new Place();
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'close');
      child.kill('SIGTERM');
      await gone;
    }
  }
  place.remove();
});

interface Printed {
  readonly url: string;
  readonly page: string;
  /** Of MCP clients, if it was made now. */
  readonly token?: string;
  readonly manageTokenFile?: string;
}

/** Starts it and gives the one document that it prints. */
async function start(args: readonly string[], within: readonly string[] = []): Promise<Printed> {
  const [program = '', ...rest] = [...within, process.execPath, COMMAND, ...args, '--json'];
  const child = spawn(program, rest, {
    cwd: place.project,
    env: { ...process.env, PLUGBOARD_HOME: place.home, PLUGBOARD_CREDENTIALS: 'file' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  while (!text.trimEnd().endsWith('}')) await once(child.stdout ?? child, 'data');
  return JSON.parse(text);
}

const bearer = (token: string | undefined): Record<string, string> => ({ authorization: `Bearer ${token}` });
const managing = ({ manageTokenFile = '' }: Printed): Record<string, string> =>
  bearer(readFileSync(manageTokenFile, 'utf8').trim());

describe('SRV-5: the command', () => {
  it('serve --http serves management with its token, and the page without', async () => {
    const printed = await start(['serve', '--http', '0', '--workspace']);
    const { url, page, token } = printed;
    expect(page).toBe(`${new URL(url).origin}/`);
    const answers = await Promise.all([
      send(page, 'GET', undefined, {}),
      send(`${page}api/servers`, 'GET', undefined, managing(printed)),
      send(`${page}api/servers`, 'GET', undefined, {}),
      send(`${page}api/servers`, 'GET', undefined, bearer(token)),
    ]);
    expect(answers.map(({ status, body }) => [status, body])).toMatchObject([
      [200, undefined],
      [200, { servers: [{ name: 'workspace' }], problems: [] }],
      [401, { error: { code: 'DENIED' } }],
      [401, { error: { code: 'DENIED', hint: expect.stringContaining('plugboard dashboard') } }],
    ]);
  });

  it('--no-auth opens MCP only', async () => {
    const printed = await start(['serve', '--http', '0', '--no-auth']);
    const { url, page, token } = printed;
    expect(token).toBeUndefined();
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const answers = await Promise.all([
      send(url, 'POST', ping, { accept: ACCEPT }),
      send(`${page}api/servers`, 'GET', undefined, {}),
      send(`${page}api/servers`, 'GET', undefined, managing(printed)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 200]);
  });

  it('A31: --token calls and does not manage', async () => {
    const { url, page } = await start(['serve', '--http', '0', '--token', 'mine']);
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const called = await send(url, 'POST', ping, { accept: ACCEPT, ...bearer('mine') });
    const managed = await send(`${page}api/servers`, 'GET', undefined, bearer('mine'));
    expect([called.status, managed.status]).toEqual([200, 401]);
  });

  it('dashboard prints an address that opens the page with its token', async () => {
    const { page, url } = await start(['dashboard', '--port', '0']);
    const { origin, pathname, hash } = new URL(page);
    const token = new URLSearchParams(hash.slice(1)).get('token') ?? '';
    expect([origin, pathname]).toEqual([new URL(url).origin, '/']);
    expect((await send(`${origin}/api/servers`, 'GET', undefined, bearer(token))).status).toBe(200);
  });

  it('a home that cannot be made is named, with what to do, instead of being reported as a fault', () => {
    const home = join(place.project, 'a-file', 'home');
    writeFileSync(join(place.project, 'a-file'), '');
    for (const args of [
      ['serve', '--http', '0'],
      ['dashboard', '--port', '0', '--no-open'],
    ]) {
      const { status, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
        cwd: place.project,
        env: { ...process.env, PLUGBOARD_HOME: home },
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([2, expect.stringContaining(`error: ${home}`)]);
      expect(stderr).toContain('hint:  Make the folder writable');
    }
  });

  it('A22: a server denied on this machine stays denied when it is added over the API', async () => {
    const [etc, trace] = [join(place.dir, 'etc'), join(place.dir, 'trace')];
    mkdirSync(etc);
    const entry = { command: process.execPath, args: [join(FIXTURES, 'attack-canary.mjs'), trace] };
    writeFileSync(
      join(etc, 'policy.json'),
      JSON.stringify({ deniedServers: [{ name: 'evil' }, { command: [entry.command, ...entry.args] }] }),
    );
    const keep = ['/etc/passwd', '/etc/ld.so.cache', '/etc/alternatives', '/etc/ssl'].flatMap((file) => [
      '--ro-bind-try',
      file,
      file,
    ]);
    const within = ['bwrap', '--die-with-parent', '--dev-bind', '/', '/', '--tmpfs', '/etc', ...keep];
    const printed = await start(
      ['serve', '--http', '0'],
      [...within, '--bind', etc, '/etc/plugboard', '--chdir', place.project, '--'],
    );
    const api = (method: string, path: string, body?: unknown): ReturnType<typeof send> =>
      send(`${printed.page}api/servers${path}`, method, body, managing(printed));
    for (const [name, scope] of [
      ['evil', 'user'],
      ['other', 'local'],
      ['third', 'project'],
    ]) {
      const added = await api('POST', '', { name, scope, entry });
      const connected = await api('POST', `/${name}/connect`);
      expect([added.body, connected.status, connected.body]).toMatchObject([
        { name, status: 'blocked', error: { code: 'BLOCKED_BY_POLICY' } },
        403,
        { error: { code: 'BLOCKED_BY_POLICY' } },
      ]);
    }
    expect(existsSync(trace)).toBe(false);
  });
});
