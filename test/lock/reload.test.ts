/** CFG-10: a running host follows its lock. */

import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHost, jsonOf } from '../../src/index.ts';
import type { About } from '../world/npm-registry.ts';
import { LockWorld } from './lock-world.ts';

let world: LockWorld;
beforeEach(async () => {
  world = await LockWorld.open();
  world.registry.publish('packed', '1.0.0', ['packed']);
});
afterEach(() => world.close());

it('CFG-10: restarts a server with another lock at a reload, and keeps it with the same one', async () => {
  world.servers({ one: ['packed'] }, { trusted: true });
  await world.run(['lock']);
  const host = await createHost({
    cwd: world.project,
    home: world.home,
    watch: false,
    env: { ...process.env, ...world.env() },
  });
  try {
    const version = async (): Promise<string> => jsonOf<About>(await host.call('mcp__one__about')).version;
    expect(await version()).toBe('1.0.0');
    const before = host.servers()[0]?.pid;
    await host.reload();
    await version();
    expect(host.servers()[0]?.pid).toBe(before);
    world.registry.publish('packed', '2.0.0', ['packed']);
    expect((await world.run(['update', '--yes'])).status).toBe(0);
    await host.reload();
    expect(await version()).toBe('2.0.0');
  } finally {
    await host.close();
  }
});

it('CFG-10: pins of a project accept the definitions that update has shown', async () => {
  const tool = (description: string): Record<string, unknown> => ({
    name: 'work',
    description,
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  });
  world.registry.publish('pinned', '1.0.0', ['pinned'], { tools: [tool('Works.')] });
  world.write(join(world.project, '.mcp.json'), {
    mcpServers: { one: { command: 'npx', args: ['-y', 'pinned'] } },
  });
  await world.run(['trust', 'one', '--yes']);
  await world.run(['lock']);
  await world.run(['tools', 'one', '--refresh']);
  world.registry.publish('pinned', '2.0.0', ['pinned'], { tools: [tool('Works well.')] });
  expect((await world.run(['update', '--yes'])).stdout).toContain('updated to pinned 2.0.0');
  expect((await world.run(['tools', 'one', '--refresh'])).stdout).toContain('Works well.');
  expect((await world.run(['pins', 'one'])).stdout).toBe('Nothing is on hold.\n');
});
