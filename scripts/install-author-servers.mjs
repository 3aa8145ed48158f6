/** Puts the other servers that authors of agents tried into .cache/author-servers, for `npm run test:long`. */

import { installPinned } from './install-pinned.mjs';

/** Pinned, as all of them are. */
export function installAuthorServers() {
  return installPinned('author-servers', {
    '@antv/mcp-server-chart': '0.9.10',
    '@azure/mcp': '2.0.5',
    '@cloudflare/mcp-server-cloudflare': '0.2.0',
    '@heroku/mcp-server': '1.2.8',
    '@sentry/mcp-server': '0.39.0',
    '@shopify/dev-mcp': '1.16.0',
    '@stripe/mcp': '0.3.3',
    '@supabase/mcp-server-supabase': '0.13.0',
    'exa-mcp-server': '3.4.1',
    'figma-developer-mcp': '0.13.2',
    'firecrawl-mcp': '3.26.0',
    'kubernetes-mcp-server': '0.0.67',
    xcodebuildmcp: '2.7.0',
  });
}
