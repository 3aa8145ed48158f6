/**
 * Names the programs of Claude Code, Codex and OpenCode that the agents suite drives: pinned ones, which other tests
 * install too, or with PLUGBOARD_TEST_AGENTS=newest the newest of npm, in .cache/newest-agents.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { installPinned } from './install-pinned.mjs';
import { opencode as pinnedOpencode } from './install-real-clients.mjs';
import { root, run } from './run.mjs';

const system = `${process.platform}-${process.arch}`;
const pinned = join(root, '.cache', 'real-servers', 'node_modules');
const newest = join(root, '.cache', 'newest-agents', 'node_modules');
/** The binary alone: the package around it fetches a second one for processors without AVX2. */
const opencodePackage = `opencode-${system}${process.arch === 'x64' ? '-baseline' : ''}`;

const areNewest = process.env.PLUGBOARD_TEST_AGENTS === 'newest';
const packages = areNewest ? newest : pinned;

/** Command lines, without arguments of a run. */
export const claudeCode = firstThatExists([
  [process.execPath, join(packages, '@anthropic-ai/claude-code/cli.js')],
  [join(packages, `@anthropic-ai/claude-code-${system}/claude`)],
]);
export const codex = [process.execPath, join(packages, '@openai/codex/bin/codex.js')];
export const openCode = [areNewest ? join(newest, opencodePackage, 'bin', 'opencode') : pinnedOpencode];

/** Later versions of an agent are a binary where earlier ones were a script. */
function firstThatExists(commands) {
  return commands.find((command) => existsSync(command.at(-1))) ?? commands[0];
}

/** Resolves with npm's exit code. */
export async function installAgents({ isNewest = false } = {}) {
  if (isNewest) {
    return installPinned('newest-agents', {
      '@anthropic-ai/claude-code': 'latest',
      '@openai/codex': 'latest',
      [opencodePackage]: 'latest',
    });
  }
  for (const script of ['install-real-clients.mjs', 'install-real-servers.mjs']) {
    const code = await run(process.execPath, [join(root, 'scripts', script)]);
    if (code !== 0) return code;
  }
  return 0;
}
