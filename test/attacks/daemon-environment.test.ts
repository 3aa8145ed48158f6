/** A48: the process that all agents share does not keep the environment of the agent that happened to be first. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DaemonWorld } from '../world/daemon-world.ts';

let world: DaemonWorld;
beforeEach(() => {
  world = new DaemonWorld();
});
afterEach(() => world.close());

const environmentOf = (pid: number): string => readFileSync(`/proc/${pid}/environ`, 'utf8');

it('A48: keys of the first agent are not in the daemon', async () => {
  const env = { OPENAI_API_KEY: 'sk-of-the-first', PLUGBOARD_TOKEN: 'sk-of-the-first' };
  // A process that is started as most programs start theirs.
  expect(execFileSync('cat', ['/proc/self/environ'], { env, encoding: 'utf8' })).toContain('sk-of-the-first');
  world.configure({ s: world.server() });
  const agent = await world.agent({ env }).open();
  await agent.call('pid');
  const [daemon = 0] = world.daemonProcesses();
  expect(environmentOf(daemon)).not.toContain('sk-of-the-first');
  expect(environmentOf(daemon)).toContain(`PLUGBOARD_HOME=${world.home}`);
});
