/** Puts the web frameworks that kit servers are mounted in into .cache/web-servers; a few MB. */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPinned } from './install-pinned.mjs';
import { root } from './run.mjs';

const require = createRequire(join(root, '.cache', 'web-servers', 'package.json'));

/** Pinned: a test that fails has found a change in this repository, not in a package. */
export function installWebServers() {
  return installPinned('web-servers', {
    '@hono/node-server': '2.1.8',
    express: '5.3.0',
    fastify: '5.12.8',
    hono: '4.13.18',
  });
}

/** Imports one of them. */
export function importWebServer(name) {
  return import(pathToFileURL(require.resolve(name)).href);
}
