/** Processes that a command starts before its host is loaded. */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { HeadStart } from '../../src/host/head-start.ts';
import { createHost, type Host } from '../../src/host/host.ts';
import { loadEffective } from '../../src/policy/effective.ts';
import { serverLogFile } from '../../src/transport/server-log.ts';
import { processes } from '../world/processes.ts';
import { type Scratch, scratch } from '../world/scratch.ts';
import { until } from '../world/until.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const { env } = process;

interface World extends Scratch {
  /** An argument of the servers of this test. */
  readonly mark: string;
  readonly running: () => number[];
  begin(only?: readonly string[]): Promise<HeadStart>;
  open(headStart: HeadStart): Promise<Host>;
}

function makeWorld(servers: (mark: string) => Record<string, unknown>, project = {}): World {
  const place = scratch();
  const mark = randomUUID();
  place.write(place.home.config, JSON.stringify({ mcpServers: servers(mark) }));
  place.write(join(place.root, '.mcp.json'), JSON.stringify({ mcpServers: project }));
  const read = () => loadEffective({ cwd: place.root, home: place.home, env });
  return {
    ...place,
    mark,
    running: () => processes((argv) => argv.includes(mark)),
    begin: async (only) => HeadStart.begin({ config: await read(), home: place.home, env, only }),
    open: async (headStart) =>
      createHost({
        cwd: place.root,
        home: place.home.dir,
        config: await read(),
        env,
        watch: false,
        connect: 'all',
        headStart,
      }),
  };
}

const echo = (mark: string) => ({ command: process.execPath, args: [fixture('echo.mjs'), mark] });

describe('a head start', () => {
  it('starts each server once, and the host uses its process', async () => {
    const world = makeWorld((mark) => ({ a: echo(mark), b: echo(mark) }));
    const headStart = await world.begin();
    const pids = world.running().sort();
    expect(pids).toHaveLength(2);
    const host = await world.open(headStart);
    await host.ready();
    expect(host.servers().map(({ status }) => status)).toEqual(['connected', 'connected']);
    expect(world.running().sort()).toEqual(pids);
    // The time that a person sees includes the time before the host.
    for (const { connectMs } of host.servers()) expect(connectMs).toBeGreaterThan(0);
    await host.close();
    expect(world.running()).toEqual([]);
  });

  it('starts only the named servers, and none that needs an approval, is switched off or is in a sandbox', async () => {
    const world = makeWorld(
      (mark) => ({
        a: echo(mark),
        b: echo(mark),
        off: { ...echo(mark), enabled: false },
        confined: { ...echo(mark), sandbox: 'strict' },
        asks: { ...echo(mark), env: { KEY: '${input:key}' } },
        here: { ...echo(mark), cwd: '${PROJECT_DIR}' },
        remote: { type: 'http', url: 'http://127.0.0.1:9/mcp' },
      }),
      { theirs: echo('a project') },
    );
    const all = await world.begin();
    expect(world.running()).toHaveLength(2);
    expect(processes((argv) => argv.includes('a project'))).toEqual([]);
    await all.close();
    await all.processes.close();
    expect(world.running()).toEqual([]);
    const one = await world.begin(['b', 'off']);
    expect(world.running()).toHaveLength(1);
    await one.close();
    await one.close();
    await one.processes.close();
    expect(world.running()).toEqual([]);
  });

  it('is not used for an entry that was changed since, and ends with the host', async () => {
    const world = makeWorld((mark) => ({ a: echo(mark) }));
    const headStart = await world.begin();
    const [before] = world.running();
    world.write(
      world.home.config,
      JSON.stringify({ mcpServers: { a: { ...echo(world.mark), env: { CHANGED: '1' } } } }),
    );
    const host = await world.open(headStart);
    await host.ready();
    const [report] = host.servers();
    expect(report).toMatchObject({ status: 'connected' });
    expect(report?.pid).not.toBe(before);
    await host.close();
    expect(world.running()).toEqual([]);
  });

  it('reports a server that exits before the host is there, with its stderr', async () => {
    const world = makeWorld((mark) => ({
      a: { command: process.execPath, args: [fixture('stdio-exit.mjs'), '3', 'no key', mark] },
    }));
    const headStart = await world.begin();
    await until('its process has ended', () => world.running().length === 0);
    const host = await world.open(headStart);
    await host.ready();
    const [report] = host.servers();
    expect(report).toMatchObject({ status: 'failed', error: { code: 'START_FAILED' } });
    expect(report?.error?.message).toContain('no key');
    const [spec] = (await loadEffective({ cwd: world.root, home: world.home, env })).servers;
    if (spec === undefined) throw new Error('no server');
    await host.close();
    expect(readFileSync(serverLogFile(world.home, spec), 'utf8')).toContain('stderr no key');
  });

  it('leaves a program that does not exist to the host', async () => {
    const world = makeWorld(() => ({ a: { command: '/nowhere/at-all' } }));
    const host = await world.open(await world.begin());
    await host.ready();
    expect(host.servers()).toMatchObject([{ status: 'failed', error: { code: 'START_FAILED' } }]);
    await host.close();
  });

  it('CON-2: leaves no server if the command is killed before its host is there', async () => {
    const world = makeWorld((mark) => ({ a: echo(mark) }));
    const args = [fixture('head-start.mjs'), world.home.dir, world.root];
    const command = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(command.stdout, 'data');
    expect(world.running()).toHaveLength(1);
    command.kill('SIGKILL');
    await until('its server has ended', () => world.running().length === 0);
  });
});
