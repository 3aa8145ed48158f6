/**
 * Builds dist/remote-only/: the host as ES modules that import nothing, with Node's modules replaced by those of
 * src/remote-only/node/. What only processes and sockets need is left out.
 */

import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { root } from './run.mjs';

const src = join(root, 'src');
const replacements = join(src, 'remote-only', 'node');

const MODULES = {
  'node:crypto': 'crypto.ts',
  'node:fs': 'fs.ts',
  'node:fs/promises': 'fs-promises.ts',
  'node:path': 'path.ts',
  ajv: 'ajv.ts',
  'ajv/dist/2019.js': 'ajv.ts',
  'ajv/dist/2020.js': 'ajv.ts',
  undici: 'nothing.ts',
  'undici/lib/dispatcher/pool.js': 'nothing.ts',
};

/** Our own modules that only local servers, sockets and files of a person need. */
const REPLACED = {
  'lib/system-locks.ts': 'system-locks.ts',
  'endpoint/listen-http.ts': 'listen-http.ts',
};
const LEFT_OUT =
  /^(?:transport\/(?:stdio-transport|reaper|plan-launch|package-starts|locked-start|sandbox-bwrap|helper-place|attached-transport)|host\/(?:daemon-servers|host-cost)|programs\/program-runner|daemon\/.*|policy\/proxy-tunnel)\.ts$/;

export const withoutNode = {
  name: 'without-node',
  setup({ onResolve }) {
    onResolve({ filter: /^(?:node:|ajv|undici)/ }, ({ path }) => ({
      path: join(replacements, MODULES[path] ?? 'rest.ts'),
    }));
    onResolve({ filter: /^@opentelemetry\// }, () => ({ path: join(replacements, 'nothing.ts') }));
    onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir, kind }) => {
      if (kind === 'entry-point') return undefined;
      const file = relative(src, join(resolveDir, path));
      if (file in REPLACED) return { path: join(replacements, REPLACED[file]) };
      return LEFT_OUT.test(file) ? { path: join(replacements, 'nothing.ts') } : undefined;
    });
  },
};

export async function buildRemoteOnly() {
  await build({
    absWorkingDir: root,
    entryPoints: [join(src, 'remote-only', 'index.ts')],
    outdir: join(root, 'dist', 'remote-only'),
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    inject: [join(replacements, 'globals.ts')],
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'linked',
    allowOverwrite: true,
    plugins: [withoutNode],
    logLevel: 'warning',
  });
  // The compiler's; they are part of the bundle now.
  await rm(join(root, 'dist', 'remote-only', 'node'), { recursive: true, force: true });
}
