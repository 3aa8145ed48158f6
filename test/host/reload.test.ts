import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StdioEntry } from '../../src/config/entry.ts';
import { homeAt } from '../../src/config/home.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openTrust } from '../../src/policy/trust.ts';
import { textOf } from '../world/content.ts';
import { exists, HostWorld, outcome, status } from '../world/host-world.ts';
import { until } from '../world/until.ts';

let world: HostWorld;
beforeEach(() => {
  world = new HostWorld();
});
afterEach(() => world.end());

/** As a careful editor saves: whole, or not at all. */
function save(file: string, mcpServers: Record<string, StdioEntry>): void {
  writeFileSync(`${file}.new`, JSON.stringify({ mcpServers }));
  renameSync(`${file}.new`, file);
}

async function consent(name: string): Promise<void> {
  const home = homeAt(world.home);
  const { servers } = await loadConfig({ cwd: world.project, home });
  const specs = servers.filter((spec) => spec.name === name);
  await openTrust({ home, env: process.env }).grant(specs);
}

describe('a configuration that changes (CFG-8)', () => {
  it('only changed servers restart; an unchanged one keeps its process and its running call', async () => {
    const [same, changes, goes] = [world.server('same'), world.server('changes'), world.server('goes')];
    save(world.userFile, { same, changes, goes });
    const host = await world.host();
    await host.ready();
    const call = outcome(host.call('mcp__same__wait'));
    await until('the call', () => world.witness('same').includes('tools/call wait'));
    save(world.userFile, {
      same,
      changes: { ...changes, env: { COLOUR: 'blue' } },
      comes: world.server('comes'),
    });
    await host.reload();
    expect(host.servers().map(({ name, status }) => [name, status])).toEqual([
      ['same', 'connected'],
      ['changes', 'connected'],
      ['comes', 'connected'],
    ]);
    expect(world.pids('same')).toHaveLength(1);
    expect(world.pids('changes').map(exists)).toEqual([false, true]);
    expect(world.pids('goes').map(exists)).toEqual([false]);
    expect(new Set(host.tools().map(({ server }) => server))).toEqual(new Set(['same', 'changes', 'comes']));
    expect(host.seen.all['call.end']).toEqual([]);
    await host.disconnect('same');
    expect(await call).toMatchObject({ code: 'CONNECTION_LOST' });
  });

  it('a replaced server is gone before its successor opens', async () => {
    const entry = world.server('s', { stubborn: true });
    save(world.userFile, { s: entry });
    const host = await world.host();
    await host.ready();
    const [first = 0] = world.pids('s');
    const overlap: boolean[] = [];
    host.on('server', ({ status }) => {
      if (status === 'connecting') overlap.push(exists(first));
    });
    save(world.userFile, { s: { ...entry, env: { N: '2' } } });
    await host.reload();
    expect(overlap).toEqual([false]);
  });

  it('two reloads at once end with the newest file, and one process a server', async () => {
    save(world.userFile, { a: world.server('a') });
    const host = await world.host();
    await host.ready();
    const reloads = [host.reload(), host.reload()];
    save(world.userFile, { a: world.server('a'), b: world.server('b') });
    await Promise.all([...reloads, host.reload()]);
    expect(host.servers().map(({ name }) => name)).toEqual(['a', 'b']);
    expect([world.pids('a').filter(exists).length, world.pids('b').filter(exists).length]).toEqual([1, 1]);
  });

  it('the watcher picks up an edit, also where the file is a link to one elsewhere', async () => {
    const real = world.file('dotfiles.json');
    save(real, { a: world.server('a') });
    symlinkSync(real, world.userFile);
    const host = await world.host({ watch: true });
    await host.ready();
    writeFileSync(real, JSON.stringify({ mcpServers: { a: world.server('a'), b: world.server('b') } }));
    await until('the new server', () => status(host, 'b') === 'connected');
    expect(world.pids('a')).toHaveLength(1);
  });

  it('the watcher picks up consent: nothing of a project runs before it, and at once after it', async () => {
    save(world.projectFile, { p: world.server('p') });
    const host = await world.host({ watch: true });
    await host.ready();
    expect(status(host, 'p')).toBe('untrusted');
    await expect(host.connect('p')).rejects.toMatchObject({ code: 'UNTRUSTED' });
    expect(world.pids('p')).toEqual([]);
    await consent('p');
    await until('the server', () => status(host, 'p') === 'connected');
    expect(world.pids('p')).toHaveLength(1);
  });

  it('nothing is watched or read after close', async () => {
    save(world.userFile, {});
    const host = await world.host({ watch: true });
    save(world.userFile, { late: world.server('late') });
    await host.close();
    await host.reload();
    expect(host.servers()).toEqual([]);
    expect(world.pids('late').filter(exists)).toEqual([]);
  });
});

describe('servers at run time (CON-10)', () => {
  it('add, disconnect, connect, remove', async () => {
    const host = await world.host();
    const added = await host.add('s', world.server('s'));
    expect(added).toMatchObject({ name: 's', scope: 'code', status: 'connected' });
    expect(await textOf(host.call('mcp__s__echo', { message: '1' }))).toBe('1');
    await host.disconnect('s');
    expect(status(host, 's')).toBe('disconnected');
    expect(host.tools()).toEqual([]);
    expect(world.pids('s').filter(exists)).toEqual([]);
    expect(await outcome(host.call('mcp__s__echo', { message: '2' }))).toMatchObject({
      code: 'CONNECTION_LOST',
      message: 's is disconnected',
    });
    await host.connect('s');
    expect(await textOf(host.call('mcp__s__echo', { message: '3' }))).toBe('3');
    await host.remove('s');
    expect([host.servers(), host.tools()]).toEqual([[], []]);
    expect(world.pids('s').filter(exists)).toEqual([]);
    await expect(host.connect('s')).rejects.toMatchObject({ code: 'UNKNOWN_SERVER' });
  });

  it('two adds of one name at once leave one server', async () => {
    const host = await world.host();
    await Promise.all([host.add('s', world.server('one')), host.add('s', world.server('two'))]);
    await until('one server', () => status(host, 's') === 'connected');
    expect([...world.pids('one'), ...world.pids('two')].filter(exists)).toHaveLength(1);
  });

  it('servers added or removed in code stay so after a reload', async () => {
    save(world.userFile, { a: world.server('a'), b: world.server('b') });
    const host = await world.host();
    await host.ready();
    await host.add('c', world.server('c'));
    await host.remove('a');
    await host.reload();
    expect(host.servers().map(({ name, status }) => [name, status])).toEqual([
      ['b', 'connected'],
      ['c', 'connected'],
    ]);
    expect([world.pids('b').length, world.pids('c').length]).toEqual([1, 1]);
  });
});
