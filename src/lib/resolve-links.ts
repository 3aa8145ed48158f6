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
  let current = root;
  const parts = split(path.slice(root.length)).reverse();
  let links = 0;
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (part === '..') {
      current = dirname(current);
      continue;
    }
    const next = join(current, part);
    const target = linkTarget(next);
    if (target === undefined || !isFollowed(next)) {
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

function linkTarget(path: string): string | undefined {
  // Without an exception for a missing file, which costs more than the rest of the check.
  return attempt(
    () => (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined),
    undefined,
  );
}

function split(path: string): string[] {
  return path.split(SEPARATOR).filter((part) => part !== '' && part !== '.');
}

/** A backslash is an ordinary character except on Windows. */
const SEPARATOR: RegExp = process.platform === 'win32' ? /[/\\]/ : /\//;
