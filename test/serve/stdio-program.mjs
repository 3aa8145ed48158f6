/** A host with the echo fixture, served on stdio; its first call brings one more server. */

import { fileURLToPath } from 'node:url';
import { createHost } from '../../dist/index.js';
import { serveStdio } from '../../dist/serve/index.js';

const entry = (name) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))],
});

const [home] = process.argv.slice(2);
const host = await createHost({ home, cwd: home, approvals: 'client', servers: { old: entry('echo.mjs') } });
await host.ready();
host.on('call.end', () => {
  if (host.servers().length === 1) void host.add('new', entry('modern.mjs'));
});
const served = serveStdio(host);
await served.closed;
await host.close();
