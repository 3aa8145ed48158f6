/**
 * Bundles the library's entry points as ES modules, in dist/esm/: Node reads each module of a program for a third of a
 * millisecond, and a host has three hundred. dist/index.js and dist/serve/index.js export the bundles; all other
 * modules stay as they are, next to their types. Parts that few programs need are in separate files, as in bundle.mjs.
 *
 * The folder has the depth of the modules that refer to other files by `import.meta.url`, so that these stay literal for
 * tools that trace a package's files; deeper ones are not bundled.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { keepApart } from './bundle-plugins.mjs';
import { root } from './run.mjs';

const src = join(root, 'src');
const dist = join(root, 'dist');
/** Modules at another depth or next to a file that they name by `import.meta.url`, and modules that load those. */
const UNBUNDLED = Object.fromEntries(
  ['errors', 'catalog/search/search-model', 'host/daemon-servers', 'workspace/workspace-server'].map(
    (path) => [`${path}.ts`, `../${path}.js`],
  ),
);
const PARTS = {
  remotes: [
    'auth/server-auth.ts',
    'auth/logins.ts',
    'transport/http-transport.ts',
    'transport/sse-transport.ts',
    'policy/network.ts',
    'policy/proxy-tunnel.ts',
  ],
  processes: [
    'transport/stdio-transport.ts',
    'transport/plan-launch.ts',
    'transport/reaper.ts',
    'transport/package-starts.ts',
  ],
  jsonc: ['config/jsonc.ts', 'config/json-edit.ts'],
  rare: [
    'transport/sandbox-bwrap.ts',
    'transport/locked-start.ts',
    'policy/scan.ts',
    'host/host-configure.ts',
  ],
  search: ['catalog/search/tool-index.ts'],
  'argument-check': ['call/argument-check.ts'],
};
const IN_PARTS = Object.fromEntries(
  Object.entries(PARTS).flatMap(([name, paths]) => paths.map((path) => [path, `./${name}.js`])),
);
const ENTRY_POINTS = { index: 'index', serve: 'serve/index' };

export async function buildEsModules() {
  await Promise.all([
    ...Object.entries(PARTS).map(([name, paths]) => {
      const contents = paths.map((path) => `export * from './${path}';`).join('\n');
      const others = Object.fromEntries(Object.entries(IN_PARTS).filter(([path]) => !paths.includes(path)));
      return bundle(name, { stdin: { contents, resolveDir: src } }, others);
    }),
    ...Object.entries(ENTRY_POINTS).map(async ([name, module]) => {
      const entry = await bundle(name, { entryPoints: [join(src, `${module}.ts`)] }, IN_PARTS);
      const names = entry.exports.join(', ');
      const up = '../'.repeat(module.split('/').length - 1) || './';
      await writeFile(join(dist, `${module}.js`), `export { ${names} } from '${up}esm/${name}.js';\n`);
    }),
  ]);
}

/** Returns the metadata of the bundle. */
async function bundle(name, entry, apart) {
  const { metafile } = await build({
    absWorkingDir: root,
    ...entry,
    outfile: join(dist, 'esm', `${name}.js`),
    bundle: true,
    platform: 'node',
    format: 'esm',
    // jsonc-parser's other build hides its requires from bundlers.
    mainFields: ['module', 'main'],
    target: 'node20.19',
    // Names are kept for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'linked',
    metafile: true,
    plugins: [keepApart({ ...UNBUNDLED, ...apart }), packages],
    logLevel: 'warning',
  });
  const [output] = Object.values(metafile.outputs).filter(({ entryPoint }) => entryPoint !== undefined);
  return output;
}

/** CommonJS packages, which Node's loader of ES modules parses twice; one of them has sixty files. */
const BUNDLED = /^(?:ajv|ipaddr\.js|jsonc-parser|picomatch)(?:\/|$)/;

/** The other packages stay outside. */
const packages = {
  name: 'packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
      if (kind === 'entry-point' || path.startsWith('node:')) return undefined;
      if (path.startsWith('gpt-tokenizer/')) return { path: '../vendor/o200k.js', external: true };
      if (path === 'cross-spawn') return { path: '../vendor/cross-spawn.js', external: true };
      if (/^undici(?:\/lib\/dispatcher\/pool\.js)?$/.test(path))
        return { path: '../vendor/undici-pool.js', external: true };
      const isInside = importer.includes('/node_modules/') || BUNDLED.test(path);
      return isInside ? undefined : { path, external: true };
    });
  },
};
