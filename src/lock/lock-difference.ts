/** Compares two locks of a server: its version, and the packages that it depends on. */

import { type LockedServer, packageAt } from '../config/lock-file.ts';

/** A package in two locks; `from` is absent for a new one, `to` for a removed one. */
export interface PackageChange {
  readonly package: string;
  readonly from?: string;
  readonly to?: string;
  /** True if the new version has an install script. */
  readonly hasScript?: true;
}

/** Returns the packages that differ, in the order of their names; the server's own package is left out. */
export function packageChanges(before: LockedServer, after: LockedServer): readonly PackageChange[] {
  const [old, now] = [versionsOf(before), versionsOf(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names.flatMap((name): PackageChange[] => {
    const [from, to] = [old.get(name), now.get(name)];
    if (name === after.package || (from?.hash === to?.hash && from !== undefined)) return [];
    return [
      {
        package: name,
        ...(from === undefined ? {} : { from: from.versions }),
        ...(to === undefined ? {} : { to: to.versions }),
        ...(to?.hasScript === true ? { hasScript: true } : {}),
      },
    ];
  });
}

interface Versions {
  readonly versions: string;
  /** The hashes of all copies: a version whose content changed is another one. */
  readonly hash: string;
  readonly hasScript: boolean;
}

/** A package can be in a tree several times, in different versions. */
function versionsOf({ packages }: LockedServer): ReadonlyMap<string, Versions> {
  const found = new Map<string, Versions>();
  for (const path of Object.keys(packages).sort()) {
    const { version = '', integrity = '', ...rest } = packages[path] ?? { version: '' };
    const before = found.get(packageAt(path));
    const all = new Set([...(before?.versions.split(', ') ?? []), version]);
    found.set(packageAt(path), {
      versions: [...all].sort().join(', '),
      hash: [...new Set([...(before?.hash.split(' ') ?? []), integrity])].sort().join(' '),
      hasScript: before?.hasScript === true || rest['hasInstallScript'] === true,
    });
  }
  return found;
}

/** True if a version is lower than another; a pre-release is lower than its release. */
export function isLower(version: string, than: string): boolean {
  const [a, b] = [partsOf(version), partsOf(than)];
  for (const [at, part] of a.numbers.entries()) {
    const other = b.numbers[at] ?? 0;
    if (part !== other) return part < other;
  }
  if (a.rest === b.rest) return false;
  if (a.rest === '' || b.rest === '') return b.rest === '';
  return a.rest.localeCompare(b.rest, 'en', { numeric: true }) < 0;
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly rest: string } {
  const [plain = ''] = version.split('+');
  const dash = plain.indexOf('-');
  const [core, rest] = dash === -1 ? [plain, ''] : [plain.slice(0, dash), plain.slice(dash + 1)];
  return { numbers: core.split('.').map(Number), rest };
}
