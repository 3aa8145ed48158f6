/** Recognises packages whose names look like those of well-known servers. */

import { lookAlikes } from '../../policy/scan-names.ts';
import { PRESETS } from '../../setup/preset-table.ts';

/** Well-known servers on npm, besides those of the presets. */
const KNOWN = [
  '@modelcontextprotocol/server-github',
  '@modelcontextprotocol/server-gitlab',
  '@modelcontextprotocol/server-slack',
  '@modelcontextprotocol/server-puppeteer',
  '@modelcontextprotocol/server-brave-search',
  '@modelcontextprotocol/server-google-maps',
  '@modelcontextprotocol/server-redis',
  '@modelcontextprotocol/inspector',
  '@notionhq/notion-mcp-server',
  '@supabase/mcp-server-supabase',
  '@upstash/context7-mcp',
  '@sentry/mcp-server',
  '@stripe/mcp',
  '@cloudflare/mcp-server-cloudflare',
  '@azure/mcp',
  '@eslint/mcp',
  '@heroku/mcp-server',
  '@browsermcp/mcp',
  '@executeautomation/playwright-mcp-server',
  'figma-developer-mcp',
  'firecrawl-mcp',
  'exa-mcp-server',
  'mcp-remote',
  'mongodb-mcp-server',
] as const;

/** Names that many packages have in their own scope. */
const COMMON = /^(?:mcp|server|mcp-server|mcp-remote|inspector)$/;

/**
 * Returns the well-known packages that a name can be mistaken for; empty for these packages themselves.
 *
 * @example
 * mistakenFor('@modelcontextprotocol/server-filesystm'); // ['@modelcontextprotocol/server-filesystem']
 */
export function mistakenFor(name: string): readonly string[] {
  const known = [...KNOWN, ...PRESETS.flatMap((preset) => ('package' in preset ? [preset.package] : []))];
  if (known.includes(name)) return [];
  const base = baseOf(name);
  const sameBase = known.filter((other) => baseOf(other) === base && !COMMON.test(base));
  const alike = lookAlikes(
    name,
    known.map((each) => ({ name: each })),
  );
  return [...new Set([...alike, ...sameBase])];
}

/** Without the scope, also if the scope became a part of the name. */
function baseOf(name: string): string {
  const plain = name.replace(/^@/, '').replace('/', '-');
  const [, own] = /^@[^/]+\/(.+)$/.exec(name) ?? [];
  return own ?? plain.replace(/^modelcontextprotocol-/, '');
}
