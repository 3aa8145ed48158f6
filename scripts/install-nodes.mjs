/** Puts the other Nodes that we support into .cache/nodes, where nothing of ours runs on them by accident. */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPinned } from './install-pinned.mjs';
import { root } from './run.mjs';

/** Pinned, as the servers are: a test that fails has found a change of ours. */
const VERSIONS = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' };

/** The program of each, by its first number. */
export const nodes = new Map(
  Object.keys(VERSIONS).map((major) => [
    Number(major),
    join(root, '.cache', 'nodes', 'node_modules', `node-${major}`, 'bin', 'node'),
  ]),
);

export function installNodes() {
  const packaged = `node-${process.platform}-${process.arch}`;
  const entries = Object.entries(VERSIONS).map(([major, version]) => [
    `node-${major}`,
    `npm:${packaged}@${version}`,
  ]);
  return installPinned('nodes', Object.fromEntries(entries));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = await installNodes();
