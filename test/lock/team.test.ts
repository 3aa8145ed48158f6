/** CFG-10: a team shares a lock: clone, approve, the same versions, without a network. */

import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { COMMAND } from '../cli/command.ts';
import { LockWorld } from './lock-world.ts';

const run = promisify(execFile);

let world: LockWorld;
beforeEach(async () => {
  world = await LockWorld.open();
});
afterEach(() => world.close());

function git(cwd: string, ...args: readonly string[]): void {
  const who = ['-c', 'user.name=x', '-c', 'user.email=x@example.com'];
  execFileSync('git', [...who, ...args], { cwd, stdio: 'ignore' });
}

it('CFG-10: a clone runs the locked versions after plugboard trust, in a namespace without a network', async () => {
  const { registry } = world;
  registry.publish('left', '1.0.0', []);
  registry.publish('packed', '1.0.0', ['packed'], { dependencies: { left: '^1.0.0' } });
  world.write(world.projectFile, { mcpServers: { one: { command: 'npx', args: ['-y', 'packed'] } } });
  await world.run(['trust', 'one', '--yes']);
  expect((await world.run(['lock'])).stdout).toContain('Written to <project>/mcp.lock.json');
  git(world.project, 'init', '-q');
  git(world.project, 'add', '.mcp.json', 'mcp.lock.json');
  git(world.project, 'commit', '-qm', 'Lock the servers');

  // Later, for another person: newer versions exist.
  registry.publish('left', '1.1.0', []);
  registry.publish('packed', '1.1.0', ['packed'], { dependencies: { left: '^1.0.0' } });
  const clone = join(world.dir, 'clone');
  git(world.dir, 'clone', '-q', world.project, clone);
  const env = {
    PLUGBOARD_HOME: join(world.dir, 'second-home'),
    npm_config_cache: join(world.dir, 'second-npm'),
  };
  const shown = await world.run(['trust'], { cwd: clone, env });
  expect(shown.stdout).toContain('locked   packed 1.0.0, 2 packages');
  expect(shown.stdout).toContain('Approval is for this entry and its locked packages.');
  expect((await world.run(['call', 'one', 'about'], { cwd: clone, env })).status).toBe(5);
  expect((await world.run(['trust', '--all', '--yes'], { cwd: clone, env })).status).toBe(0);

  const { stdout } = await run(
    'unshare',
    ['--map-root-user', '--net', process.execPath, COMMAND, 'call', 'one', 'about'],
    { cwd: clone, env: { ...process.env, ...world.env(), ...env } },
  );
  expect(JSON.parse(stdout)).toMatchObject({ version: '1.0.0', byNpx: false });
});
