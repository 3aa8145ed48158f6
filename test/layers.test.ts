/** Checks the import order of ARCHITECTURE.md (a folder imports from folders below it only) and that file names are unique. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** Lowest first. `index` is the main entry point. */
const LAYERS: readonly string[] = [
  'errors',
  'lib',
  'secrets',
  'config',
  'daemon/protocol',
  'daemon/client',
  'policy',
  'auth',
  'lock',
  'transport',
  'connection',
  'endpoint',
  'catalog',
  'tasks',
  'tool-search',
  'call',
  'history',
  'programs',
  'host',
  'cluster',
  'remote-only',
  'testing',
  'adapters',
  'kit',
  'workspace',
  'index',
  'setup',
  'serve',
  'manage',
  'serve/index',
  'chat',
  'doctor',
  'cli',
  'daemon/server',
];

const IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]*)['"]/g;

/**
 * `lib/clock.ts` → `lib`, `errors.ts` → `errors`. The daemon has three layers: the protocol, its clients, and the
 * process itself. `serve/index.ts` is an entry point, which also exports the management of `manage/`.
 */
function layerOf(path: string): string {
  const [first = '', second = ''] = path.split(sep);
  if (first === 'daemon') return `${first}/${second}`;
  if (path === join('serve', 'index.ts')) return 'serve/index';
  return first.replace(/\.[cm]?[jt]s$/, '');
}

/** Every import that goes up, sideways out of the package, or from a folder that the order does not know. */
function violations(source: string): string[] {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.ts$/.test(file),
  );
  return files.sort().flatMap((file) => {
    const rank = LAYERS.indexOf(layerOf(file));
    if (rank < 0) return [`${file} is in no layer`];
    const text = readFileSync(join(source, file), 'utf8');
    return [...text.matchAll(IMPORT)].flatMap(([, specifier = '']) => {
      const target = relative(source, join(source, dirname(file), specifier));
      const targetRank = LAYERS.indexOf(layerOf(target));
      return targetRank >= 0 && targetRank <= rank ? [] : [`${file} imports ${target}`];
    });
  });
}

it('every folder of src/ imports from folders below it only', () => {
  expect(violations(fileURLToPath(new URL('../src', import.meta.url)))).toEqual([]);
});

it('an import that goes up is found, however it is written', () => {
  const tree = mkdtempSync(join(tmpdir(), 'layers-'));
  try {
    const write = (file: string, text: string) => {
      mkdirSync(dirname(join(tree, file)), { recursive: true });
      writeFileSync(join(tree, file), text);
    };
    write('errors.ts', `export const code = 1;`);
    write('lib/clock.ts', `import { code } from '../errors.ts';\nimport { join } from 'node:path';`);
    write('lib/inner/deep.ts', `import { now } from '../clock.ts';`);
    write('lib/type.ts', `import type { Host } from '../host/host.ts';`);
    write('call/lazy.ts', `const cli = await import('../cli/main.ts');`);
    write('call/again.ts', `export { now } from "../serve/index.ts";`);
    write(
      'index.ts',
      `export { createHost } from './host/host.ts';\nexport { fake } from './serve/index.ts';`,
    );
    write('host/host.ts', `import '../lib/clock.ts';\nimport './host-options.ts';`);
    write('host/host-options.ts', `import '../cli/main.ts';`);
    write('helpers/string.ts', ``);
    write('cli/main.ts', `import pkg from '../../package.json';`);
    expect(violations(tree)).toEqual([
      'call/again.ts imports serve/index.ts',
      'call/lazy.ts imports cli/main.ts',
      'cli/main.ts imports ../package.json',
      'helpers/string.ts is in no layer',
      'host/host-options.ts imports cli/main.ts',
      'index.ts imports serve/index.ts',
      'lib/type.ts imports host/host.ts',
    ]);
  } finally {
    rmSync(tree, { recursive: true });
  }
});

/** Base names that occur more than once, except those of entry points and of `remote-only/node/`, whose files replace others. */
function duplicateNames(source: string): string[] {
  const places = new Map<string, string[]>();
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!/\.ts$/.test(file) || basename(file) === 'index.ts') continue;
    if (dirname(file) === join('remote-only', 'node')) continue;
    places.set(basename(file), [...(places.get(basename(file)) ?? []), file]);
  }
  return [...places.values()].filter((files) => files.length > 1).map((files) => files.join(' and '));
}

it('every file name of src/ occurs once, so that a search for it finds one file', () => {
  expect(duplicateNames(fileURLToPath(new URL('../src', import.meta.url)))).toEqual([]);
});

it('a file name that occurs twice is found', () => {
  const tree = mkdtempSync(join(tmpdir(), 'names-'));
  try {
    for (const file of [
      'lib/version.ts',
      'doctor/version.ts',
      'cli/deep/version.ts',
      'serve/index.ts',
      'kit/index.ts',
      'lib/locks.ts',
      'remote-only/node/locks.ts',
      'lib/clock.ts',
    ]) {
      mkdirSync(dirname(join(tree, file)), { recursive: true });
      writeFileSync(join(tree, file), '');
    }
    expect(duplicateNames(tree)).toEqual(['cli/deep/version.ts and doctor/version.ts and lib/version.ts']);
  } finally {
    rmSync(tree, { recursive: true });
  }
});
