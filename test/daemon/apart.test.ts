/** SRV-11: which sessions share which process, and what `daemon status` says about a second one. */

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ServerUse } from '../../src/daemon/protocol/daemon-messages.ts';
import { DaemonWorld } from '../world/daemon-world.ts';

let world: DaemonWorld;
beforeEach(() => {
  world = new DaemonWorld();
});
afterEach(() => world.close());

async function used(name: string): Promise<ServerUse[]> {
  const [daemon] = await world.daemons();
  return daemon?.hosts.flatMap(({ servers }) => servers.filter((server) => server.name === name)) ?? [];
}

it('SRV-11, F63: shares a process between sessions whose PATH differs but finds the same programs', async () => {
  const bin = join(world.home, 'bin');
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, 'node-for-this-test'));
  world.configure({ s: { ...world.server(), command: 'node-for-this-test' } });
  const PATH = `${bin}:${process.env['PATH']}`;
  const agents = await Promise.all(
    [PATH, `/opt/nothing:${PATH}`, `/tmp/codex-arg0${Math.random()}:${PATH}`].map((path) =>
      world.agent({ env: { PATH: path } }).open(),
    ),
  );
  const pids = await Promise.all(agents.map((agent) => agent.call('pid')));
  expect([new Set(pids).size, world.servers().length, (await used('s')).length]).toEqual([1, 1, 1]);
});

it('SRV-11: starts a second process where PATH leads to another program, and the status shows it', async () => {
  const folders = ['one', 'two'].map((name) => {
    const folder = join(world.home, name);
    mkdirSync(folder);
    const file = join(folder, 'runner');
    writeFileSync(file, `#!/bin/sh\nexec ${process.execPath} "$@"\n`);
    chmodSync(file, 0o755);
    return folder;
  });
  world.configure({ s: { ...world.server(), command: 'runner' }, t: world.server() });
  const env = (folder = ''): NodeJS.ProcessEnv => ({ PATH: `${folder}:${process.env['PATH']}` });
  const a = await world.agent({ env: env(folders[0]) }).open();
  const pids = [await a.call('pid')];
  const b = await world.agent({ env: env(folders[1]) }).open();
  pids.push(await b.call('pid'));
  const others = [await a.call('pid', {}, 't'), await b.call('pid', {}, 't')];
  const copies = (await used('s')).flatMap((server) => server.copies ?? []);
  // N28: a folder that is listed twice has the reason with it.
  const differs = (await world.daemons())[0]?.hosts.map((host) => host.differs);
  expect({ apart: new Set(pids).size, together: new Set(others).size, copies, differs }).toEqual({
    apart: 2,
    together: 1,
    differs: [undefined, ['PATH']],
    copies: [
      {
        pid: Number(pids[1]),
        reason: 'another session has a different program',
        hint: 'PATH leads to another program in this session; give the full path as "command".',
      },
    ],
  });
});

it('SRV-11: a variable that one server refers to makes a second copy of that server only', async () => {
  world.configure({
    s: world.server({ env: { SHOWN: '${MY_TOKEN}' } }),
    t: world.server(),
  });
  const [a, b] = await Promise.all(
    ['one', 'two'].map((MY_TOKEN) => world.agent({ env: { MY_TOKEN } }).open()),
  );
  const seen = [await a?.call('env', { name: 'SHOWN' }), await b?.call('env', { name: 'SHOWN' })];
  const others = [await a?.call('pid', {}, 't'), await b?.call('pid', {}, 't')];
  const copies = (await used('s')).flatMap((server) => server.copies ?? []);
  const text = (await world.run(['daemon', 'status'])).stdout;
  expect({
    seen: new Set(seen),
    together: new Set(others).size,
    processes: world.servers().length,
    reasons: copies.map(({ reason }) => reason),
    told: /second copy, pid \d+: another session has a different SHOWN/.test(text),
    secret: text.includes('one') || text.includes('two'),
  }).toEqual({
    seen: new Set(['one', 'two']),
    together: 1,
    processes: 3,
    reasons: ['another session has a different SHOWN'],
    told: true,
    secret: false,
  });
});

it('SRV-11: a missing variable fails its server by name, and a value of the daemon is never used for it', async () => {
  world.configure({ s: world.server({ env: { SHOWN: '${MY_TOKEN}' } }), t: world.server() });
  const first = await world.agent({ env: { MY_TOKEN: 'a secret' } }).open();
  const second = await world.agent().open();
  const shown = await first.call('env', { name: 'SHOWN' });
  const failed = await second.request('tools/call', { name: 's__pid', arguments: {} });
  const together = new Set([await first.call('pid', {}, 't'), await second.call('pid', {}, 't')]);
  expect({ shown, isError: failed['isError'], named: JSON.stringify(failed).includes('MY_TOKEN') }).toEqual({
    shown: 'a secret',
    isError: true,
    named: true,
  });
  expect(together.size).toBe(1);
});

it('SRV-11: a borrowed process serves on when the host that started it has lost its sessions', async () => {
  world.configure({ s: world.server({ env: { SHOWN: '${MY_TOKEN}' } }), t: world.server() });
  const first = await world.agent({ env: { MY_TOKEN: 'one' } }).open();
  const second = await world.agent({ env: { MY_TOKEN: 'two' } }).open();
  const pid = await first.call('pid', {}, 't');
  const before = await second.call('pid', {}, 't');
  await first.leave();
  const after = await second.call('pid', {}, 't');
  const status = await second.leave();
  expect({ before, after, status, left: world.servers() }).toEqual({
    before: pid,
    after: pid,
    status: 0,
    left: [],
  });
});

it('SRV-11: shows why a server that keeps state has a process for each session', async () => {
  world.configure({ s: world.server({ shared: false }) });
  const [a, b] = [await world.agent().open(), await world.agent().open()];
  await a.call('pid');
  const pid = Number(await b.call('pid'));
  const [server] = await used('s');
  expect(server?.copies).toEqual([
    {
      pid,
      reason: 'the server keeps state, so each session has its own process',
      hint: 'If its calls do not depend on each other, set "shared": true in its entry.',
    },
  ]);
});

it('SRV-11: a proxy of one session reaches no other, now or after a restart', async () => {
  world.configure({ s: world.server() });
  const proxied = await world.agent({ env: { HTTPS_PROXY: 'http://127.0.0.1:9' } }).open();
  const seen = [await proxied.call('env', { name: 'HTTPS_PROXY' })];
  const plain = await world.agent().open();
  seen.push(await plain.call('env', { name: 'HTTPS_PROXY' }));
  await Promise.all([proxied.leave(), plain.leave()]);
  await world.command('daemon', 'stop');
  const later = await world.agent().open();
  seen.push(await later.call('env', { name: 'HTTPS_PROXY' }));
  expect(seen).toEqual(['http://127.0.0.1:9', 'unset', 'unset']);
});

it('SRV-11: a session stays where it is when a later one has variables that it lacks', async () => {
  world.configure({ s: world.server() });
  const first = await world.agent().open();
  const pid = await first.call('pid');
  const second = await world.agent({ env: { SSL_CERT_FILE: '/etc/ssl/cert.pem' } }).open();
  await second.call('pid');
  await world.command('reload');
  await second.leave();
  expect(await first.call('pid')).toBe(pid);
});
