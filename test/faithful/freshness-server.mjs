/**
 * Lists that change without a word: the tool `grow` adds a tool; `shrink` removes one, and a resource, a template and a
 * prompt: what a remote server adds would be held back (POL-3).
 * `--ttl=<ms>` is the freshness of its lists; `--about=<file>` holds its instructions and capabilities.
 * With `{ "hold": true }` every list waits for the tool `release`.
 */

import { readFileSync } from 'node:fs';
import { MODERN, serve, text, tool } from './raw-server.mjs';

const flagValue = (flag) => process.argv.find((arg) => arg.startsWith(`${flag}=`))?.slice(flag.length + 1);
const hints = { ttlMs: Number(flagValue('--ttl') ?? 0), cacheScope: 'private' };
const about = flagValue('--about');

let grown = false;
let shrunk = false;
let held;
let release = () => {};

const listed = (key, items) => {
  const now = () => ({ [key]: shrunk ? items.slice(0, -1) : items, ...hints });
  return held === undefined ? now() : held.then(now);
};

await serve({
  capabilities: { tools: {}, resources: {}, prompts: {} },
  tools: [],
  handlers: {
    ...(about === undefined
      ? {}
      : {
          'server/discover': () => ({
            supportedVersions: [MODERN],
            ...JSON.parse(readFileSync(about, 'utf8')),
            ...hints,
          }),
        }),
    'tools/list': () =>
      listed(
        'tools',
        ['grow', 'shrink', 'release', 'received', ...(grown ? ['added'] : []), 'last'].map((name) =>
          tool(name),
        ),
      ),
    'resources/list': () =>
      listed(
        'resources',
        ['first', 'last'].map((name) => ({ name, uri: `test://${name}` })),
      ),
    'resources/templates/list': () =>
      listed(
        'resourceTemplates',
        ['first', 'last'].map((name) => ({ name, uriTemplate: `test://${name}/{id}` })),
      ),
    'prompts/list': () =>
      listed(
        'prompts',
        ['first', 'last'].map((name) => ({ name })),
      ),
  },
  called({ name, arguments: args = {} }) {
    if (name === 'release') release();
    if (name === 'grow') grown = true;
    if (name === 'shrink') shrunk = true;
    if (args.hold === true) {
      held = new Promise((resolve) => {
        release = resolve;
      });
    }
    return text(name);
  },
});
