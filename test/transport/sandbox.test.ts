/** POL-6: what a confined server can and cannot do, asked of a real process. */

import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/config/entry.ts';
import type { GivenEntry } from '../../src/config/given-entry.ts';
import { createHost, type Host } from '../../src/index.ts';
import { descendants, processRow } from '../../src/lib/process-table.ts';
import { sandboxOf } from '../../src/transport/sandbox.ts';
import { confine } from '../../src/transport/sandbox-bwrap.ts';
import { FIXTURE } from '../attacks/naive.ts';

/** Filled by scripts/install-real-servers.mjs, with pinned versions. */
const PACKAGES = fileURLToPath(new URL('../../.cache/real-servers/node_modules', import.meta.url));

let dir: string;
let project: string;
let home: string;
const hosts: Host[] = [];
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-sandbox-')));
  project = join(dir, 'project');
  home = join(dir, 'person');
  mkdirSync(join(project, '.git'), { recursive: true });
  mkdirSync(join(home, '.ssh'), { recursive: true });
  writeFileSync(join(home, '.ssh', 'id_rsa'), 'private');
  writeFileSync(join(home, '.claude.json'), 'tokens of others');
  writeFileSync(join(project, 'readme'), 'hello');
});
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
  rmSync(dir, { recursive: true, force: true });
});

async function open(sandbox: Sandbox | undefined): Promise<Host> {
  const host = await createHost({
    cwd: project,
    home: join(dir, 'home'),
    env: { PATH: process.env['PATH'] ?? '', HOME: home },
    watch: false,
    connect: 'none',
    approve: () => 'allow',
    servers: { s: { command: process.execPath, args: [FIXTURE('attack-prober.mjs')], sandbox } },
  });
  hosts.push(host);
  return host;
}

/** What the server says that it could do. */
async function tries(host: Host, what: Readonly<Record<string, unknown>>): Promise<string> {
  await host.connect('s');
  const { content } = await host.call('mcp__s__try', what);
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}

describe('a sandbox', () => {
  it('without one a server reads keys, writes and connects', async () => {
    const host = await open(undefined);
    expect(await tries(host, { read: join(home, '.ssh', 'id_rsa') })).toBe('private');
    expect(await tries(host, { write: join(project, 'written') })).toBe('written');
  });

  // Protocol: 25-overview-10d, 26-overview-10d
  it('POL-6: strict: reads the project, writes nothing, sees no keys and no network', async () => {
    const listener = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    const host = await open('strict');
    expect(await tries(host, { read: join(project, 'readme') })).toBe('hello');
    expect(await tries(host, { write: join(project, 'written') })).toBe('EROFS');
    // Refused, or into a folder that only the server sees.
    await tries(host, { write: join(home, 'written') });
    expect(existsSync(join(home, 'written'))).toBe(false);
    expect(await tries(host, { read: join(home, '.ssh', 'id_rsa') })).toBe('ENOENT');
    expect(await tries(host, { read: join(home, '.claude.json') })).toBe('ENOENT');
    expect(await tries(host, { connect: port })).toMatch(/^(ECONNREFUSED|ENETUNREACH)$/);
    expect(await tries(host, { write: '/tmp/private-to-it' })).toBe('written');
    await new Promise((resolve) => listener.close(resolve));
  });

  it('POL-6: project and network: what is given is given, and nothing more', async () => {
    const listener = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    const host = await open({ filesystem: 'project', network: 'full' });
    expect(await tries(host, { write: join(project, 'written') })).toBe('written');
    expect(await tries(host, { connect: port })).toBe('connected');
    expect(await tries(host, { write: '/etc/plugboard-was-here' })).toBe('EROFS');
    await new Promise((resolve) => listener.close(resolve));
  });

  it('POL-6: named folders can be written', async () => {
    mkdirSync(join(project, 'out'));
    const host = await open({ filesystem: { write: ['out'] } });
    expect(await tries(host, { write: join(project, 'out', 'x') })).toBe('written');
    expect(await tries(host, { write: join(project, 'x') })).toBe('EROFS');
  });

  it('CON-1: everything in it ends with it, also what left its group', async () => {
    const host = await open('strict');
    expect(await tries(host, { stray: true })).toBe('started');
    const pid = host.servers()[0]?.pid ?? 0;
    const family = [pid, ...descendants(pid).map((row) => row.pid)];
    // The helper, its half inside, the server, and what left the server's group with a clean environment.
    expect(family.length).toBeGreaterThanOrEqual(4);
    await host.disconnect('s');
    expect(family.filter((one) => processRow(one)?.zombie === false)).toEqual([]);
  });

  it('POL-6: that cannot be understood refuses to start', async () => {
    // As a file may have it.
    const host = await open({ filesystem: 'most', network: 'none' } as unknown as Sandbox);
    await expect(host.connect('s')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message:
        'Its "sandbox" cannot be understood: "filesystem" must be "read-only", "project", "all" or { "read": [paths], "write": [paths] }',
    });
    expect(() => sandboxOf('loose')).toThrow('"strict" or an object');
    expect(() => sandboxOf({ netwrok: 'none' })).toThrow('"netwrok" is not known');
    expect(sandboxOf({ enabled: false })).toBeUndefined();
    expect(sandboxOf({})).toEqual({ filesystem: 'read-only', network: false });
  });

  it('POL-6: a program that is named behind a link finds its packages', async () => {
    const place = join(dir, 'data');
    mkdirSync(join(place, 'node_modules', 'tool'), { recursive: true });
    mkdirSync(join(place, 'node_modules', 'part'));
    writeFileSync(join(place, 'node_modules', 'part', 'package.json'), '{"name":"part","main":"part.js"}');
    writeFileSync(join(place, 'node_modules', 'part', 'part.js'), 'exports.word = "found";');
    writeFileSync(join(place, 'node_modules', 'tool', 'package.json'), '{"name":"tool"}');
    writeFileSync(
      join(place, 'node_modules', 'tool', 'tool.js'),
      'console.log(require("part").word, process.cwd());',
    );
    symlinkSync(place, join(dir, 'linked'));
    const modules = join(dir, 'linked', 'node_modules');
    const program = { command: process.execPath, args: [join(modules, 'tool', 'tool.js')] };
    for (const cwd of [project, modules]) {
      const rules = sandboxOf('strict') ?? { filesystem: 'read-only', network: false };
      const env = { PATH: process.env['PATH'] ?? '', HOME: home };
      const { command, args, release } = await confine(program, { rules, env, cwd, project });
      const { stdout } = await promisify(execFile)(command, args);
      await release();
      expect(stdout).toBe(`found ${realpathSync(cwd)}\n`);
    }
  });

  it('POL-6: strict confines real servers: one for files writes nothing, one that fetches reaches no host', async () => {
    let asked = 0;
    const listener = createHttpServer((_request, response) => {
      asked += 1;
      response.end('page');
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    const real = (script: string, sandbox: Sandbox | undefined, ...args: string[]): GivenEntry => ({
      command: process.execPath,
      args: [join(PACKAGES, '@modelcontextprotocol', script, 'dist', 'index.js'), ...args],
      // Where its modules are: they may lie in a folder that a private /tmp would hide.
      cwd: PACKAGES,
      approval: 'approve',
      startupTimeoutMs: 60_000,
      sandbox,
    });
    const outcome = async (sandbox: Sandbox | undefined): Promise<unknown> => {
      const host = await createHost({
        cwd: project,
        home: join(dir, 'home'),
        env: { PATH: process.env['PATH'] ?? '', HOME: home },
        watch: false,
        connect: 'none',
        servers: {
          files: real('server-filesystem', sandbox, project),
          web: real('server-everything', sandbox, 'stdio'),
        },
      });
      hosts.push(host);
      await Promise.all([host.connect('files'), host.connect('web')]);
      const path = join(project, 'new');
      const [read, write, fetched] = await Promise.all([
        host.call('mcp__files__read_text_file', { path: join(project, 'readme') }),
        host.call('mcp__files__write_file', { path, content: 'x' }),
        host.call('mcp__web__gzip-file-as-resource', { name: 'x.gz', data: `http://127.0.0.1:${port}/` }),
      ]);
      return [read, write, fetched].map(({ isError }) => !isError);
    };
    expect(await outcome('strict')).toEqual([true, false, false]);
    expect([existsSync(join(project, 'new')), asked]).toEqual([false, 0]);
    // The same two without it: what failed above failed for the sandbox.
    expect(await outcome(undefined)).toEqual([true, true, true]);
    expect([existsSync(join(project, 'new')), asked]).toEqual([true, 1]);
    await new Promise((resolve) => listener.close(resolve));
  });

  it('POL-6: a sandbox that is required and missing prevents the start, and the hint names what to install', async () => {
    const trace = join(dir, 'trace');
    const program = `
      import { createHost } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
      const entry = { command: process.execPath, args: [${JSON.stringify(FIXTURE('attack-canary.mjs'))}, ${JSON.stringify(trace)}], sandbox: 'strict' };
      const host = await createHost({ home: ${JSON.stringify(join(dir, 'home'))}, watch: false, connect: 'none', servers: { s: entry } });
      const { code, message, hint } = await host.connect('s').then(() => ({}), (error) => error);
      process.stdout.write(JSON.stringify({ code, message, hint, status: host.servers()[0].status }));
      await host.close();`;
    // A machine without bubblewrap: its folder holds nothing but Node and a shell.
    const bare = [
      '--dev-bind',
      '/',
      '/',
      '--tmpfs',
      '/usr/bin',
      '--ro-bind',
      process.execPath,
      process.execPath,
    ];
    const shell = ['--ro-bind', realpathSync('/bin/sh'), '/usr/bin/sh'];
    const { stdout } = await promisify(execFile)(
      'bwrap',
      [...bare, ...shell, '--', process.execPath, '--input-type=module', '-e', program],
      { cwd: project },
    );
    expect(JSON.parse(stdout)).toEqual({
      code: 'START_FAILED',
      message: 'The sandbox that its entry asks for is not available: bubblewrap is not installed',
      hint: "Install it: apt-get install bubblewrap, or your system's package of that name.",
      status: 'failed',
    });
    expect(existsSync(trace)).toBe(false);
  });

  it("of a project's folder is not the one that is used", async () => {
    const fake = join(project, 'bwrap');
    writeFileSync(fake, '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
    const rules = { filesystem: 'read-only', network: false } as const;
    const confined = await confine(
      { command: 'x', args: [] },
      { rules, env: { PATH: `${project}:${process.env['PATH']}`, HOME: home }, cwd: project, project },
    );
    expect(confined.command).not.toBe(fake);
    expect(confined.args.slice(-2)).toEqual(['--', 'x']);
  });
});
