/** Bundles the page into `<out>/page/`: one script, one stylesheet, the document and its icon. */

import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './run.mjs';

const STATIC = ['index.html', 'icon.svg'];

export async function buildPage(out) {
  const source = join(root, 'page');
  const target = join(out, 'page');
  await mkdir(target, { recursive: true });
  await build({
    entryPoints: { page: join(source, 'main.tsx'), styles: join(source, 'styles', 'all.css') },
    entryNames: '[name]',
    outdir: target,
    bundle: true,
    splitting: true,
    chunkNames: '[name]',
    format: 'esm',
    minify: true,
    target: ['es2023', 'chrome123', 'firefox121', 'safari17.5'],
    charset: 'utf8',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { 'process.env.NODE_ENV': '"production"' },
    banner: { js: '/*! Includes preact, @preact/signals and marked, all under the MIT license. */' },
    logLevel: 'warning',
  });
  await Promise.all(STATIC.map((name) => copyFile(join(source, name), join(target, name))));
}
