import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SUITE_TIMEOUT_MS, serverVerdicts, type Tested } from './suite.ts';

const COMMAND = '../../dist/bin/plugboard.cjs';
const FIXTURE = fileURLToPath(new URL('../fixtures/gateway-conformance.mjs', import.meta.url));

/** The command as a person starts it, in the daemon; the suite asks for tools and prompts by the server's own names. */
let gateway: Tested & { readonly env: NodeJS.ProcessEnv };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plugboard-conformance-'));
  const [home, cwd] = [join(folder, 'home'), join(folder, 'project')];
  await mkdir(home);
  await mkdir(cwd);
  const mcpServers = { fixture: { command: process.execPath, args: [FIXTURE] } };
  await writeFile(join(home, 'config.json'), JSON.stringify({ naming: 'plain', mcpServers }));
  const env = { ...process.env, PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file' };
  gateway = { program: COMMAND, args: ['serve', '--http', '0', '--no-auth', '--json'], cwd, env };
});
afterEach(async () => {
  const command = fileURLToPath(new URL(COMMAND, import.meta.url));
  await promisify(execFile)(process.execPath, [command, 'daemon', 'stop'], { env: gateway.env });
  await rm(folder, { recursive: true, force: true });
});

/** Scenarios of 2026-07-28 that fail, all unscored, and why. Anything else that fails, and any of these that passes, fails. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'tasks-required-task-error':
    'the gateway follows tasks for clients that do not have them, so a tool that requires them can be called',
};

it.each(['2025-11-25', '2026-07-28'])(
  'SRV-1: `plugboard serve --http` passes every scenario that the suite has for a server of %s',
  async (requirements) => {
    const { passed, failed, unscored } = await serverVerdicts(gateway, ['--requirements', requirements]);
    const expected = requirements === '2026-07-28' ? Object.keys(EXCEPTIONS) : [];
    expect({ failed, unscored: unscored.failed }).toEqual({ failed: [], unscored: expected });
    expect(passed.length).toBeGreaterThanOrEqual(30);
  },
  SUITE_TIMEOUT_MS * 2,
);
