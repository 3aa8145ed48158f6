/** Puts more public servers into .cache/more-servers, for `npm run test:long`: 250 MB that `npm test` does without. */

import { installPinned } from './install-pinned.mjs';

/** Pinned: a test that fails has found a change of ours, not of theirs. */
export function installMoreServers() {
  return installPinned('more-servers', {
    '@brave/brave-search-mcp-server': '2.1.4',
    '@eslint/mcp': '0.3.13',
    '@modelcontextprotocol/server-basic-vanillajs': '2.0.3',
    '@modelcontextprotocol/server-postgres': '0.6.2',
    '@modelcontextprotocol/server-sequential-thinking': '2026.8.31',
    '@modelcontextprotocol/server-slack': '2025.4.25',
    '@notionhq/notion-mcp-server': '2.5.2',
    '@playwright/mcp': '0.0.83',
    'chrome-devtools-mcp': '1.11.0',
    'mcp-server-commands': '0.5.0',
    'mcp-server-kubernetes': '4.1.7',
    'mongodb-mcp-server': '3.0.4',
    shadcn: '4.23.0',
    'tavily-mcp': '0.2.22',
  });
}
