/**
 * Puts the bundlers and runtimes that an agent can be shipped with into .cache/bundlers, for `npm run test:long`: 700 MB
 * that `npm test` does without. Miniflare's later lines need Node 22.
 */

import { join } from 'node:path';
import { installPinned } from './install-pinned.mjs';
import { root } from './run.mjs';

const system = `${process.platform}-${process.arch}`;
const bunPackage = `@oven/bun-${system.replace('arm64', 'aarch64')}`;
const denoPackage = `@deno/${system}${process.platform === 'linux' ? '-glibc' : ''}`;

const packages = join(root, '.cache', 'bundlers', 'node_modules');

/** The binaries alone: the packages `bun` and `deno` fetch them in an install script. */
export const bun = join(packages, bunPackage, 'bin', 'bun');
export const deno = join(packages, denoPackage, 'deno');
export const jest = join(packages, 'jest', 'bin', 'jest.js');
export const miniflare = join(packages, 'miniflare', 'dist', 'src', 'index.js');
export const postject = join(packages, 'postject', 'dist', 'cli.js');
export const bundlerPackages = packages;

/** Pinned: a test that fails has found a change in this repository, not in a package. */
export function installBundlers() {
  return installPinned('bundlers', {
    [bunPackage]: '1.4.4',
    [denoPackage]: '2.9.6',
    '@types/react': '19.3.0',
    jest: '30.5.2',
    miniflare: '4.20260401.0',
    next: '16.4.6',
    postject: '1.0.0-alpha.6',
    react: '19.3.1',
    'react-dom': '19.3.1',
    typescript: '5.9.3',
  });
}
