/**
 * Bundles the entry points for `require`, in dist/cjs/: for Jest, and for TypeScript with `module: node16`, which cannot
 * use ES modules. The host and its errors are those of the command (dist/bin). Types are those of the ES modules, so a
 * value of one form fits where the other is expected.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { commonJsOptions, keepApart } from './bundle-plugins.mjs';
import { root } from './run.mjs';

const errors = { 'errors.ts': '../bin/errors.cjs' };
const host = { ...errors, 'host/host.ts': '../bin/host.cjs' };

const ENTRY_POINTS = [
  { name: 'index', module: 'index', apart: host },
  { name: 'adapters', module: 'adapters/index', apart: errors },
  { name: 'kit', module: 'kit/index', apart: errors },
  { name: 'serve', module: 'serve/index', apart: host },
  { name: 'testing', module: 'testing/index', apart: errors },
];

export async function buildCommonJs() {
  const out = join(root, 'dist', 'cjs');
  await mkdir(out, { recursive: true });
  await Promise.all(
    ENTRY_POINTS.map(async ({ name, module, apart }) => {
      const { plugins, ...options } = commonJsOptions;
      await build({
        ...options,
        entryPoints: [join(root, 'src', `${module}.ts`)],
        outfile: join(out, `${name}.cjs`),
        // import() of a package becomes require(): Jest has no other way.
        supported: { 'dynamic-import': false },
        plugins: [keepApart(apart), ...plugins],
      });
      const values = await import(pathToFileURL(join(out, `../${module}.js`)).href);
      await writeFile(join(out, `${name}.d.cts`), typesOf(values, `../${module}.js`));
    }),
  );
}

/** Every type of the ES module, and each of its values with its type there. */
export function typesOf(values, module) {
  const there = `import('${module}', { with: { 'resolution-mode': 'import' } })`;
  const lines = Object.entries(values).flatMap(([name, value]) => [
    `export declare const ${name}: typeof ${there}.${name};`,
    ...(/^class\b/.test(String(value)) ? [`export type ${name} = ${there}.${name};`] : []),
  ]);
  return `export type * from '${module}' with { 'resolution-mode': 'import' };\n${lines.join('\n')}\n`;
}
