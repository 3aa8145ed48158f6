/** The packages of packages/: each packed, checked, installed alone, and tested there by its own tests. */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attwReport, type Packed, pack, publintRemarks, run } from './world/packed.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const temp = mkdtempSync(join(tmpdir(), 'plugboard-packages-'));
afterAll(() => rmSync(temp, { recursive: true, force: true }));

const MAX_KIT_BYTES: number = 5 * 1024 * 1024;

interface PackageManifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function manifestOf(folder: string): PackageManifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Packages of this repository that another one needs; a registry has them once they are published. */
const NEEDS: Readonly<Record<string, readonly string[]>> = { kit: [], 'tool-search': [], workspace: ['kit'] };
/** Has no CommonJS: it is a program. */
const MODULES_ONLY: readonly string[] = ['workspace'];

describe.each(Object.entries(NEEDS))('@plugboard/%s', (name, needs) => {
  const folder = join(root, 'packages', name);
  const consumer = join(temp, name);
  let packed: Packed;
  let tarball: string;

  beforeAll(async () => {
    mkdirSync(consumer);
    writeFileSync(join(consumer, 'package.json'), '{ "private": true, "type": "module" }');
    const tarballs: string[] = [];
    for (const each of [name, ...needs]) {
      const one = await pack(join(root, 'packages', each), temp);
      if (each === name) packed = one;
      tarballs.push(join(temp, one.filename));
    }
    tarball = tarballs[0] ?? '';
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs], consumer);
  });

  it('has the version of plugboard, and depends on nothing but packages of this repository', () => {
    const { version, dependencies = {} } = manifestOf(folder);
    expect(version).toBe(manifestOf(root).version);
    expect(dependencies).toEqual(
      Object.fromEntries(needs.map((each) => [`@plugboard/${each}`, `^${version}`])),
    );
    const installed = readdirSync(join(consumer, 'node_modules')).filter((each) => !each.startsWith('.'));
    expect(installed).toEqual(['@plugboard']);
    expect(packed.files.filter(({ path }) => path.endsWith('.node'))).toEqual([]);
  });

  it('holds its build, its licence and its README, and no sources or tests', () => {
    const others = packed.files.filter(
      ({ path }) =>
        !/^(?:dist\/.*\.(?:js|cjs|d\.ts|d\.cts|bin|txt)|LICENSE|README\.md|package\.json|bin\.js)$/.test(
          path,
        ),
    );
    expect(others).toEqual([]);
    expect(packed.files.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json']),
    );
  });

  it('passes publint and attw without a remark', async () => {
    expect(await publintRemarks(tarball)).toEqual([]);
    const profile = MODULES_ONLY.includes(name) ? 'esm-only' : 'node16';
    const { entryPoints, problems } = await attwReport(tarball, { profile });
    const left = problems.filter(
      (problem) => !(profile === 'esm-only' && JSON.stringify(problem).includes('node16-cjs')),
    );
    expect(left).toEqual([]);
    expect(entryPoints).toEqual(Object.keys(manifestOf(folder).exports));
  });

  it('has types that a strict program uses without any other package', async () => {
    const names = Object.keys(manifestOf(folder).exports).filter((key) => !key.endsWith('.json'));
    const imports = names.map((key, at) => `export * as e${at} from '@plugboard/${name}${key.slice(1)}';`);
    writeFileSync(join(consumer, 'all.ts'), imports.join('\n'));
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const flags = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      'false',
      '--module',
      'nodenext',
      '--target',
      'es2023',
    ];
    flags.push('--types', 'node', '--typeRoots', join(root, 'node_modules', '@types'));
    expect(
      await run(process.execPath, [tsc, ...flags, 'all.ts'], consumer).catch(({ stdout }) => stdout),
    ).toBe('');
  });

  it('passes its own tests where only it is installed', async () => {
    cpSync(join(folder, 'test'), join(consumer, 'test'), { recursive: true });
    const tests = readdirSync(join(consumer, 'test')).filter((file) => /\.test\.[cm]js$/.test(file));
    expect(tests.length).toBeGreaterThan(0);
    const args = ['--test', '--test-reporter', 'tap', ...tests.map((file) => join('test', file))];
    const printed = await run(process.execPath, args, consumer, { NODE_OPTIONS: '' }).catch(
      ({ stdout }) => stdout,
    );
    expect(printed).toMatch(/^# fail 0$/m);
    expect(printed).toMatch(/^# pass [1-9]/m);
  });

  it('KIT-4: is small', () => {
    const bytes = sizeOf(join(consumer, 'node_modules', '@plugboard'));
    console.info(`@plugboard/${name}: ${(bytes / 1024 / 1024).toFixed(1)} MB installed`);
    expect(bytes).toBeLessThan(MAX_KIT_BYTES);
  });
});

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.reduce((sum, file) => {
    const stats = statSync(join(folder, file));
    return sum + (stats.isFile() ? stats.size : 0);
  }, 0);
}
