/**
 * Builds packages/: each is bundled from the entry point in src/ that ARCHITECTURE.md names, with the types of the
 * modules that it uses. A package contains everything but the packages that its manifest names, so that it can be
 * installed alone; parts that few programs need are in files of their own.
 */

import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { typesOf } from './commonjs.mjs';
import { withoutNode } from './remote-only.mjs';
import { root } from './run.mjs';

const src = join(root, 'src');
const dist = join(root, 'dist');
const packages = join(root, 'packages');

/** Optional, or the same instance as the author's. */
const EXTERNAL = ['zod', 'zod/*', '@opentelemetry/api'];
const KIT = '@plugboard/kit';

const PACKAGES = [
  {
    name: 'kit',
    entries: { index: 'kit/index', testing: 'testing/kit-testing' },
    commonJs: true,
    worker: true,
  },
  // Its search runs in a thread, whose file is next to the bundle.
  {
    name: 'workspace',
    entries: { index: 'workspace/index', 'search-worker': 'workspace/search-worker' },
    types: ['index'],
    onKit: true,
  },
  {
    name: 'tool-search',
    entries: { index: 'tool-search/index' },
    commonJs: true,
    assets: ['tool-search.bin'],
  },
];

export async function buildPackages() {
  await Promise.all(PACKAGES.map(buildPackage));
}

async function buildPackage({ name, entries, types, commonJs, worker, onKit, assets = [] }) {
  const out = join(packages, name, 'dist');
  await rm(out, { recursive: true, force: true });
  const entryPoints = Object.fromEntries(
    Object.entries(entries).map(([file, module]) => [file, join(src, `${module}.ts`)]),
  );
  const plugins = onKit ? [kitOutside] : [namedAjv];
  await bundle({ entryPoints, outdir: out, format: 'esm', splitting: true, plugins });
  if (commonJs) {
    // import() becomes require(): Jest has no other way.
    const supported = { 'dynamic-import': false };
    const outExtension = { '.js': '.cjs' };
    await bundle({ entryPoints, outdir: out, format: 'cjs', outExtension, supported, plugins });
  }
  if (worker) await buildForWorkers(entries.index, join(out, 'worker'));
  await Promise.all(assets.map((file) => copyFile(join(root, 'assets', file), join(out, file))));
  for (const [file, module] of Object.entries(entries)) {
    if (types !== undefined && !types.includes(file)) continue;
    await copyTypes(`${module}.d.ts`, join(out, 'types'), onKit === true);
    if (commonJs) await writeFile(join(out, `${file}.d.cts`), await commonTypes(out, file, module));
  }
  await copyFile(join(root, 'LICENSE'), join(packages, name, 'LICENSE'));
}

function bundle(options) {
  return build({
    absWorkingDir: root,
    chunkNames: '[name]-[hash]',
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    // Names are kept for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'linked',
    external: EXTERNAL,
    // In CommonJS there is none; the search for the asset then uses __dirname.
    logOverride: { 'empty-import-meta': 'silent' },
    logLevel: 'warning',
    ...options,
  });
}

/** For runtimes without Node's modules and without `eval`: the same replacements as in plugboard/remote-only. */
function buildForWorkers(module, outdir) {
  return bundle({
    entryPoints: { index: join(src, `${module}.ts`) },
    outdir,
    format: 'esm',
    splitting: true,
    platform: 'browser',
    target: 'es2022',
    inject: [join(src, 'remote-only', 'node', 'globals.ts')],
    plugins: [withoutNode],
  });
}

/** The kit is a package of its own; its classes have one identity only. */
const kitOutside = {
  name: 'kit-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir }) =>
      isKit(relative(src, join(resolveDir, path))) ? { path: KIT, external: true } : undefined,
    );
  },
};

const AJV_NAMES = { ajv: 'Ajv', 'ajv/dist/2019.js': 'Ajv2019', 'ajv/dist/2020.js': 'Ajv2020' };

/** A file of its own for a CommonJS package exports its default only, unless the names are listed. */
const namedAjv = {
  name: 'named-ajv',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^ajv/ }, ({ path, kind }) =>
      kind === 'dynamic-import' && path in AJV_NAMES ? { path, namespace: 'named-ajv' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'named-ajv' }, ({ path }) => ({
      contents: `export { ${AJV_NAMES[path]} } from '${path}';`,
      resolveDir: root,
    }));
  },
};

function isKit(path) {
  return /^(?:kit\/|errors\.)/.test(path);
}

const IMPORT = /(\bfrom\s*|\bimport\s*\(\s*)(['"])(\.[^'"]+)\2/g;

/** Types of packages that are part of the bundle. They occur in our internal modules only. */
const BUNDLED_TYPES = /^import type \{ ([^}]+) \} from '(?:ajv|jose)[^']*';$/gm;

/** Copies the declarations of a module and of those that it imports. */
async function copyTypes(path, out, onKit, copied = new Set()) {
  if (copied.has(path)) return;
  copied.add(path);
  const text = await readFile(join(dist, path), 'utf8');
  const imported = [];
  const unknownTypes = (_, names) =>
    names
      .split(', ')
      .map((name) => `type ${name} = unknown;`)
      .join('\n');
  const changed = text
    .replace(BUNDLED_TYPES, unknownTypes)
    .replace(IMPORT, (whole, before, quote, specifier) => {
      const target = join(dirname(path), specifier).replace(/\.[jt]s$/, '.d.ts');
      if (onKit && isKit(target)) return `${before}${quote}${KIT}${quote}`;
      imported.push(target);
      return whole;
    });
  await mkdir(dirname(join(out, path)), { recursive: true });
  await writeFile(join(out, path), changed);
  for (const target of imported) await copyTypes(target, out, onKit, copied);
}

async function commonTypes(out, file, module) {
  const values = await import(pathToFileURL(join(out, `${file}.js`)).href);
  return typesOf(values, `./types/${module}.js`);
}
