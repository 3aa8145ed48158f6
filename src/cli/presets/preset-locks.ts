/** Reads the locks of presets that come with the package; `scripts/preset-locks.mjs` writes them. */

import { readFileSync } from 'node:fs';
import { type LockedPackage, type LockedServer, parseLockedServer } from '../../config/lock-file.ts';
import { attempt } from '../../lib/attempt.ts';
import { isRecord, type JsonObject, own, parseRecord } from '../../lib/json.ts';

const LOCKS: URL = new URL('../../../assets/preset-locks.json', import.meta.url);

/**
 * Returns the lock of a package and version; undefined if there is none.
 *
 * @example
 * presetLock('@playwright/mcp', '0.0.83')?.integrity; // 'sha512-…'
 */
export function presetLock(name: string, version: string): LockedServer | undefined {
  const root = attempt(() => parseRecord(readFileSync(LOCKS, 'utf8')), undefined);
  const { packages, locks } = root ?? {};
  const found = isRecord(locks) ? own(locks, `${name}@${version}`) : undefined;
  if (!isRecord(packages) || !isRecord(found) || !isRecord(found['tree'])) return undefined;
  const tree = treeOf(found['tree'], packages);
  const lock = parseLockedServer({
    source: 'npm',
    package: name,
    version,
    integrity: tree[`node_modules/${name}`]?.integrity,
    requested: [`${name}@${version}`],
    published: found['published'],
    packages: tree,
  });
  return typeof lock === 'string' ? undefined : lock;
}

/** The trees share most of their packages, so each package is stored once. */
function treeOf(tree: JsonObject, packages: JsonObject): Readonly<Record<string, LockedPackage>> {
  const all = Object.entries(tree).map(([path, id]) => [path, own(packages, String(id))]);
  return Object.fromEntries(all) as Readonly<Record<string, LockedPackage>>; // checked by `parseLockedServer`
}
