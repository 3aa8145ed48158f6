/** Resolves links in a path as the system does, also if the end of the path does not exist. */

import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { attempt } from './attempt.ts';

/** As on Linux. */
export const MAX_LINKS = 40;

/**
 * Returns the path with every link resolved, from left to right: `link/..` is the parent of the link's target. Parts
 * that do not exist are appended by name. Undefined if it leads through too many links.
 *
 * @param path - Absolute; not normalised, because that would remove links before `..`.
 * @param isFollowed - False for links that are kept; by their path without links.
 */
export function resolveLinks(
  path: string,
  isFollowed: (link: string) => boolean = () => true,
): string | undefined {
  const { root } = parse(path);
  return follow(root, path.slice(root.length), isFollowed);
}

/** The same for a path that is relative to a folder whose links are resolved. */
export function resolveLinksIn(folder: string, path: string): string | undefined {
  return follow(folder, path, () => true);
}

function follow(folder: string, path: string, isFollowed: (link: string) => boolean): string | undefined {
  let current = folder;
  const parts = split(path).reverse();
  let links = 0;
  // Nothing exists below a folder that does not exist.
  let missing: string | undefined;
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (part === '..') {
      if (current === missing) missing = undefined;
      current = dirname(current);
      continue;
    }
    const next = join(current, part);
    const target = missing === undefined ? linkTarget(next) : undefined;
    if (target === false) missing = next;
    if (typeof target !== 'string' || !isFollowed(next)) {
      current = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return undefined;
    const targetRoot = parse(target).root;
    if (targetRoot !== '') current = targetRoot;
    parts.push(...split(target.slice(targetRoot.length)).reverse());
  }
  return current;
}

/** Returns what a link points to; undefined for a file or folder, false if there is none. */
function linkTarget(path: string): string | undefined | false {
  return attempt(() => {
    // Without an exception for a missing file, which costs more than the rest of the check.
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return false;
    return found.isSymbolicLink() ? readlinkSync(path) : undefined;
  }, undefined);
}

function split(path: string): string[] {
  return path.split(SEPARATOR).filter((part) => part !== '' && part !== '.');
}

/** A backslash is an ordinary character except on Windows. */
const SEPARATOR: RegExp = process.platform === 'win32' ? /[/\\]/ : /\//;
