/** Puts the public servers that tests talk to into .cache/real-servers, once per list of versions. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root, run } from './run.mjs';

/** Pinned: a test that fails has found a change of ours, not of theirs. */
const SERVERS = {
  '@anthropic-ai/claude-code': '2.1.100', // the last line that is JavaScript; later ones are binaries of 170 MB
  '@cyanheads/git-mcp-server': '2.15.3',
  '@modelcontextprotocol/server-everything': '2026.8.31',
  '@modelcontextprotocol/server-filesystem': '2026.8.31',
  '@modelcontextprotocol/server-github': '2025.4.8',
  '@modelcontextprotocol/server-memory': '2026.8.31',
  '@openai/codex': '0.151.0', // later ones dropped `mcp-server`; a binary, 135 MB to fetch
  '@upstash/context7-mcp': '4.1.1',
};

const folder = join(root, '.cache', 'real-servers');
const stamp = join(folder, 'installed.json');
const wanted = JSON.stringify(SERVERS);

if ((await readFile(stamp, 'utf8').catch(() => '')) !== wanted) {
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'real-servers', private: true, dependencies: SERVERS }),
  );
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock', '--loglevel=error'];
  const code = await run('npm', ['install', ...flags], { cwd: folder });
  if (code === 0) await writeFile(stamp, wanted);
  else process.stderr.write('The real servers could not be installed: is the npm registry within reach?\n');
  process.exitCode = code;
}
