/** POL-6: what a confined server can and cannot do, asked of a real process. */

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost, type Host } from '../../src/index.ts';
import { descendants, processRow } from '../../src/lib/process-table.ts';
import { sandboxOf } from '../../src/transport/sandbox.ts';
import { confine } from '../../src/transport/sandbox-bwrap.ts';
import { FIXTURE } from '../attacks/naive.ts';

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
  writeFileSync(join(project, 'readme'), 'hello');
});
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
  rmSync(dir, { recursive: true, force: true });
});

async function open(sandbox: unknown): Promise<Host> {
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

  it('strict: reads the project, writes nothing, sees no keys and no network', async () => {
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
    expect(await tries(host, { connect: port })).toMatch(/^(ECONNREFUSED|ENETUNREACH)$/);
    expect(await tries(host, { write: '/tmp/private-to-it' })).toBe('written');
    await new Promise((resolve) => listener.close(resolve));
  });

  it('project and network: what is given is given, and nothing more', async () => {
    const listener = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    const host = await open({ filesystem: 'project', network: 'full' });
    expect(await tries(host, { write: join(project, 'written') })).toBe('written');
    expect(await tries(host, { connect: port })).toBe('connected');
    expect(await tries(host, { write: '/etc/plugboard-was-here' })).toBe('EROFS');
    await new Promise((resolve) => listener.close(resolve));
  });

  it('named folders can be written', async () => {
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

  it('that cannot be understood refuses to start', async () => {
    const host = await open({ filesystem: 'most', network: 'none' });
    await expect(host.connect('s')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message:
        'Its "sandbox" cannot be understood: "filesystem" must be "read-only", "project", "all" or { "write": [paths] }.',
    });
    expect(() => sandboxOf('loose')).toThrow('"strict" or an object');
    expect(() => sandboxOf({ netwrok: 'none' })).toThrow('"netwrok" is not known');
    expect(sandboxOf({ enabled: false })).toBeUndefined();
    expect(sandboxOf({})).toEqual({ filesystem: 'read-only', network: false });
  });

  it('that a project brings along is not the one that is used', async () => {
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
