/**
 * Locks the packages of the presets: writes assets/preset-locks.json for the versions in src/setup/preset-table.ts.
 * With `--newest`, first sets these to the newest versions that are at least MIN_AGE_DAYS old; test them before a release.
 *
 * Run it after `npm run build`: node scripts/preset-locks.mjs [--newest]
 */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { homeAt } from '../dist/config/home.js';
import { resolvePackages } from '../dist/lock/resolve-packages.js';
import { PRESETS } from '../dist/setup/preset-table.js';

const MIN_AGE_DAYS = 3;
const DAY_MS = 86_400_000;
const TABLE = fileURLToPath(new URL('../src/setup/preset-table.ts', import.meta.url));
const LOCKS = fileURLToPath(new URL('../assets/preset-locks.json', import.meta.url));

const isNewest = process.argv.includes('--newest');
const folder = await mkdtemp(join(tmpdir(), 'preset-locks-'));
try {
  let table = await readFile(TABLE, 'utf8');
  const packages = {};
  const locks = {};
  for (const { package: name, version } of PRESETS.filter((preset) => 'package' in preset)) {
    const lock = await lockOf(name, isNewest ? '' : version);
    const id = `${name}@${lock.version}`;
    const tree = Object.entries(lock.packages).map(([path, each]) => {
      const key = idOf(path, each, packages);
      packages[key] = each;
      return [path, key];
    });
    locks[id] = { published: lock.published, tree: Object.fromEntries(tree) };
    table = table.replace(
      `package: '${name}',\n    version: '${version}'`,
      `package: '${name}',\n    version: '${lock.version}'`,
    );
    console.log(`${id}: ${tree.length} packages${version === lock.version ? '' : ` (was ${version})`}`);
  }
  await writeFile(TABLE, table);
  const sorted = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(LOCKS, `${JSON.stringify({ version: 1, packages: sorted, locks })}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function lockOf(name, version) {
  const raw = version === '' ? name : `${name}@${version}`;
  const request = { packages: [{ raw, name, version }], program: undefined, args: [], prefix: undefined };
  const before = version === '' ? new Date(Date.now() - MIN_AGE_DAYS * DAY_MS) : undefined;
  const { lock } = await resolvePackages(request, {
    home: homeAt(folder),
    env: process.env,
    server: name,
    before,
  });
  return lock;
}

/** The same version can differ by its place: `optional` and `peer` depend on the tree. */
function idOf(path, each, packages) {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const text = JSON.stringify(each);
  for (let at = 0; ; at += 1) {
    const key = `${name}@${each.version}${at === 0 ? '' : `#${at}`}`;
    if (packages[key] === undefined || JSON.stringify(packages[key]) === text) return key;
  }
}
