/**
 * Copies the CommonJS dependencies of the library into one ES module each, in dist/vendor/. A bundle in ES module format
 * cannot hold a CommonJS package that requires Node's modules ("Dynamic require of node:assert is not supported"); here
 * they are required through `process.getBuiltinModule`. One file is also read faster than sixty.
 */

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, posix, relative, sep } from 'node:path';
import { build } from 'esbuild';
import { root } from './run.mjs';

const VENDORED = [
  {
    file: 'undici-pool.js',
    imported: /\bimport\('undici(?:\/lib\/dispatcher\/pool\.js)?'\)/g,
    source: "export { default, default as Pool } from 'undici/lib/dispatcher/pool.js';",
  },
  {
    file: 'cross-spawn.js',
    imported: /\bimport\('cross-spawn'\)/g,
    source: "export { default } from 'cross-spawn';",
  },
  // Read only for programs with types; its own dependencies are for its command.
  {
    file: 'sucrase.js',
    imported: /\bimport\('sucrase'\)/g,
    source: "export { transform } from 'sucrase';",
  },
  // One vocabulary of a package with many: it is not a dependency, and is read only where tokens are counted.
  {
    file: 'o200k.js',
    imported: /\bimport\('gpt-tokenizer\/encoding\/o200k_base'\)/g,
    source: "export { countTokens } from 'gpt-tokenizer/encoding/o200k_base';",
  },
];

/** Writes the copies into a compiled tree and points its imports to them. */
export async function vendor(dist) {
  await Promise.all(
    VENDORED.map(({ file, source }) =>
      build({
        absWorkingDir: root,
        stdin: { contents: source, resolveDir: root },
        outfile: join(dist, 'vendor', file),
        bundle: true,
        platform: 'node',
        format: 'esm',
        target: 'node20.19',
        minifyWhitespace: true,
        minifySyntax: true,
        legalComments: 'linked',
        banner: { js: 'const require = process.getBuiltinModule;' },
        logLevel: 'warning',
      }),
    ),
  );
  const names = await readdir(dist, { recursive: true });
  for (const name of names.filter((path) => path.endsWith('.js') && !path.startsWith(`vendor${sep}`))) {
    const path = join(dist, name);
    const text = await readFile(path, 'utf8');
    const up = relative(join(path, '..'), join(dist, 'vendor')).split(sep).join(posix.sep);
    const changed = VENDORED.reduce(
      (code, { file, imported }) => code.replaceAll(imported, `import('${up}/${file}')`),
      text,
    );
    if (changed !== text) await writeFile(path, changed);
  }
}
