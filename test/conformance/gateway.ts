/** `plugboard serve --http` as a person starts it, in the daemon, before the fixture server of the conformance suite. */

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Tested } from './suite.ts';

const COMMAND = '../../dist/bin/plugboard.cjs';
const FIXTURE = fileURLToPath(new URL('../fixtures/gateway-conformance.mjs', import.meta.url));

export interface ConformanceGateway extends Tested {
  close(): Promise<void>;
}

/** The suite asks for tools and prompts by the names that its server gives them. */
export async function conformanceGateway(): Promise<ConformanceGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'plugboard-conformance-'));
  const [home, cwd] = [join(folder, 'home'), join(folder, 'project')];
  await mkdir(home);
  await mkdir(cwd);
  const mcpServers = { fixture: { command: process.execPath, args: [FIXTURE] } };
  await writeFile(join(home, 'config.json'), JSON.stringify({ naming: 'plain', mcpServers }));
  const env = { ...process.env, PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file' };
  return {
    program: COMMAND,
    args: ['serve', '--http', '0', '--no-auth', '--json'],
    cwd,
    env,
    async close() {
      const command = fileURLToPath(new URL(COMMAND, import.meta.url));
      await promisify(execFile)(process.execPath, [command, 'daemon', 'stop'], { env });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Scenarios that fail, all unscored, and why. Anything else that fails, and any of these that passes, fails the tests. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  'tasks-required-task-error':
    'the gateway follows tasks for clients that do not have them, so a tool that requires them can be called',
};
