/** Puts the public servers that tests talk to into .cache/real-servers. */

import { installPinned } from './install-pinned.mjs';

/** Pinned: a test that fails has found a change of ours, not of theirs. */
process.exitCode = await installPinned('real-servers', {
  '@anthropic-ai/claude-code': '2.1.100', // the last line that is JavaScript; later ones are binaries of 170 MB
  '@cyanheads/git-mcp-server': '2.15.3',
  '@modelcontextprotocol/server-everything': '2026.8.31',
  '@modelcontextprotocol/server-filesystem': '2026.8.31',
  '@modelcontextprotocol/server-github': '2025.4.8',
  '@modelcontextprotocol/server-memory': '2026.8.31',
  '@openai/codex': '0.151.0', // later ones dropped `mcp-server`; a binary, 135 MB to fetch
  '@upstash/context7-mcp': '4.1.1',
});
