/** The parts that the bundles of the command and of the library have in common. */

import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { root } from './run.mjs';

const src = join(root, 'src');

/** Native, or large and rarely needed, or not to be copied because another package may hold the same instance. */
const external = [
  '@ai-sdk/*',
  '@clack/prompts',
  '@modelcontextprotocol/*',
  'ai',
  'undici',
  // For servers whose authors bring it; our own have their schemas by hand.
  'zod/v4/core',
];

/** Our modules that are in separate files. */
export function keepApart(apart) {
  return {
    name: 'keep-apart',
    setup({ onResolve }) {
      onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir, kind }) => {
        if (kind === 'entry-point') return undefined;
        const target = apart[relative(src, join(resolveDir, path))];
        return target === undefined ? undefined : { path: target, external: true };
      });
    },
  };
}

/** `import.meta.url` stays what it is in the unbundled build, so that files beside a module are still found. */
const moduleUrls = {
  name: 'module-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const built = relative(src, path).replace(/\.ts$/, '.js');
      return {
        loader: 'ts',
        contents: text.replaceAll('import.meta.url', `__moduleUrl(${JSON.stringify(built)})`),
      };
    });
  },
};

/** The vocabulary has 2 MB; scripts/vendor.mjs copies it. */
const vocabulary = {
  name: 'vocabulary',
  setup({ onResolve }) {
    onResolve({ filter: /^gpt-tokenizer\// }, () => ({ path: '../vendor/o200k.js', external: true }));
  },
};

const MODULE_URL =
  "const __moduleUrl = (path) => require('node:url').pathToFileURL(require('node:path').join(__dirname, '..', path)).href;";

/**
 * Our files, and packages that are CommonJS, are required also where the source has `import()`: that reads a file
 * twice over, once only to find the names it exports, and wakes the loader for ES modules.
 */
const required = {
  name: 'required',
  setup({ initialOptions, onEnd }) {
    initialOptions.write = false;
    onEnd(async ({ outputFiles = [] }) => {
      for (const { path, text } of outputFiles)
        await writeFile(
          path,
          inAscii(text.replaceAll(IMPORTED, REQUIRED).replaceAll(PACKAGE, '__import("$1")')),
        );
    });
  },
};

/**
 * Escapes the characters that esbuild leaves in regular expressions, so that V8 keeps a file in one byte for each
 * character; a raw template would change its value.
 */
function inAscii(text) {
  if (/\braw`[^`]*[^\0-\x7f]/.test(text)) throw new Error('A raw template has characters other than ASCII');
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const IMPORTED = /\bimport\("(\.\/[\w-]+\.cjs)"\)/g;
const REQUIRED = 'Promise.resolve().then(()=>require("$1"))';
/** Code that was compiled in an earlier run cannot import; src/cli/code-cache.ts passes a function that can. */
const PACKAGE = /(?<![#.\w])import\("([^"]+)"\)/g;
const IMPORT = 'var __import = typeof __import === "function" ? __import : (id) => import(id);';

/** For files in a folder of dist/. */
export const commonJsOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  // jsonc-parser's other build hides its requires from bundlers.
  mainFields: ['module', 'main'],
  target: 'node20.19',
  charset: 'ascii',
  // Names are kept: stack traces of --verbose are for people.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'linked',
  banner: { js: `${MODULE_URL}${IMPORT}` },
  external,
  plugins: [vocabulary, moduleUrls, required],
  logLevel: 'warning',
};
