/** Puts the servers of the composed tasks (bench/tasks) into .cache/task-servers. */

import { installPinned } from './install-pinned.mjs';

/** Pinned: figures that moved come from a change of Plugboard, not of a server. The one for SQLite needs no compiler and runs with Node 20. */
export function installTaskServers() {
  return installPinned('task-servers', {
    '@cyanheads/git-mcp-server': '2.15.3',
    '@modelcontextprotocol/server-everything': '2026.8.31',
    '@modelcontextprotocol/server-filesystem': '2026.8.31',
    '@modelcontextprotocol/server-memory': '2026.8.31',
    '@playwright/mcp': '0.0.83',
    '@xexr/mcp-libsql': '1.1.0',
  });
}
