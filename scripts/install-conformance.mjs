/**
 * Puts the official conformance suite, and the Node 22 that it needs, into .cache/conformance: outside of the
 * project's own node_modules, so that nothing of ours runs on another Node by accident.
 */

import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root, run } from './run.mjs';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const FIRST_MAJOR = 22;

export const folder = join(root, '.cache', 'conformance');
export const suite = join(folder, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');

const ownMajor = Number(process.versions.node.split('.')[0]);
const nodePackage = `node-${process.platform}-${process.arch}`;

/** The Node that runs the suite; what is tested runs on ours. */
export const node =
  ownMajor >= FIRST_MAJOR ? process.execPath : join(folder, 'node_modules', nodePackage, 'bin', 'node');

export async function installConformance() {
  if (existsSync(suite) && existsSync(node)) return 0;
  await mkdir(folder, { recursive: true });
  const packages = [SUITE, ...(ownMajor >= FIRST_MAJOR ? [] : [`${nodePackage}@${FIRST_MAJOR}`])];
  return run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, ...packages]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.exitCode = await installConformance();
