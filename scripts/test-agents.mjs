/**
 * `npm run test:agents [-- --newest]`: installs Claude Code, Codex and OpenCode, builds, and runs every test of
 * test/agents, with the pinned versions or with the newest ones of npm.
 */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installAgents } from './install-agents.mjs';
import { root, run, tool } from './run.mjs';

const { values } = parseArgs({ options: { newest: { type: 'boolean', default: false } } });
// "latest" is another version from one day to the next.
if (values.newest) await rm(join(root, '.cache', 'newest-agents', 'installed.json'), { force: true });

process.exitCode = await main();

async function main() {
  const installed = await installAgents({ isNewest: values.newest });
  if (installed !== 0) return installed;
  const built = await run(process.execPath, ['scripts/build.mjs']);
  if (built !== 0) return built;
  const env = { ...process.env, PLUGBOARD_TEST_AGENTS: values.newest ? 'newest' : 'pinned' };
  const codes = [];
  for (const config of ['vitest.config.ts', 'vitest.long.config.ts'])
    codes.push(
      await run(process.execPath, [tool('vitest'), 'run', '--config', config, 'test/agents'], { env }),
    );
  return Math.max(...codes);
}
