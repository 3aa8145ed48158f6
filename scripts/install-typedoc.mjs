/**
 * Puts TypeDoc into .cache/typedoc, for `npm run docs`. It needs the JavaScript API of TypeScript, which the native
 * compiler of this repository does not have: so it comes with a TypeScript of its own, outside of node_modules.
 */

import { join } from 'node:path';
import { installPinned } from './install-pinned.mjs';
import { root } from './run.mjs';

const packages = join(root, '.cache', 'typedoc', 'node_modules');

export const typedoc = join(packages, 'typedoc', 'bin', 'typedoc');
export const markdownPlugin = join(packages, 'typedoc-plugin-markdown', 'dist', 'index.js');

/** Pinned: other versions write other pages. */
export function installTypedoc() {
  return installPinned('typedoc', {
    typedoc: '0.28.20',
    'typedoc-plugin-markdown': '4.14.1',
    typescript: '5.9.3',
  });
}
