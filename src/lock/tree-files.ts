/** Records and compares the files of an installed package tree: by their stat for each start, by content for a check. */

import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, type Stats } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { attempt } from '../lib/attempt.ts';
import { isInside } from '../lib/inside.ts';

/** Files between two turns of the event loop, so that other servers are not delayed. */
const FILES_PER_TURN = 400;
/** The same for stats, about as many files. */
const CHARS_PER_TURN = 40_000;
const MODE_BITS = 0o777;
const EXECUTABLE = 0o111;

/** The content of a tree: path → `<mode> <sha256>`, `-> <target>` for a link, `/` for a folder. */
export type TreeContent = Readonly<Record<string, string>>;

interface TreeFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly full: string;
  readonly info: Stats;
}

/** Walks a tree in a fixed order; the folder itself first. */
async function* walk(folder: string): AsyncGenerator<TreeFile> {
  yield { path: '', full: folder, info: lstatSync(folder) };
  const pending = [''];
  let seen = 0;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const name of readdirSync(join(folder, at)).sort()) {
      const path = at === '' ? name : `${at}/${name}`;
      const full = folder + sep + path;
      const info = lstatSync(full);
      if (info.isDirectory()) pending.push(path);
      yield { path, full, info };
      seen += 1;
      if (seen % FILES_PER_TURN === 0) await nextTurn();
    }
  }
}

/**
 * Returns a hash of the stat of every file: any write, replacement or new file changes it, because the system sets the
 * time of the last change (ctime) and no program can set it. Undefined if the tree cannot be read.
 */
export async function treeStamp(folder: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  const pending = [folder];
  let seen = 0;
  // A plain loop: this runs before each start, and a generator would take half as long again.
  try {
    let lines = statLine('', lstatSync(folder));
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      for (const name of readdirSync(at).sort()) {
        const full = at + sep + name;
        const info = lstatSync(full);
        if (info.isDirectory()) pending.push(full);
        lines += statLine(name, info);
      }
      // The folder of the names above.
      hash.update(`${lines}${at.slice(folder.length)}\0`);
      seen += lines.length;
      lines = '';
      if (seen > CHARS_PER_TURN) {
        seen = 0;
        await nextTurn();
      }
    }
    return hash.digest('hex');
  } catch {
    return undefined;
  }
}

function statLine(name: string, { mode, uid, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${name}\0${mode} ${uid} ${ino} ${size} ${mtimeMs} ${ctimeMs}\n`;
}

/** Reads the content of every file. @throws if a file is neither a file, a folder nor a link inside the tree */
export async function treeContent(folder: string): Promise<TreeContent> {
  const content: Record<string, string> = Object.create(null);
  for await (const { path, full, info } of walk(folder)) {
    if (info.isDirectory()) {
      if (path !== '') content[path] = '/';
    } else if (info.isSymbolicLink()) {
      const target = readlinkSync(full);
      if (!isInside(resolve(dirname(full), target), folder)) {
        throw new Error(`${relative(folder, full)} is a link out of its folder`);
      }
      content[path] = `-> ${target}`;
    } else if (info.isFile()) {
      const sum = createHash('sha256').update(readFileSync(full)).digest('hex');
      content[path] = `${(info.mode & MODE_BITS).toString(8)} ${sum}`;
    } else {
      throw new Error(`${relative(folder, full)} is not a file`);
    }
  }
  return content;
}

/** Returns the paths that were changed, added or removed, sorted. */
export function differingFiles(before: TreeContent, after: TreeContent): readonly string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]).sort();
}

/** Takes write access from every file and folder of a tree. */
export async function makeReadOnly(folder: string): Promise<void> {
  for await (const { full, info } of walk(folder)) {
    if (info.isFile()) chmodSync(full, (info.mode & EXECUTABLE) === 0 ? 0o444 : 0o555);
    else if (info.isDirectory()) chmodSync(full, 0o555);
  }
}

/** Removes a tree without write access. */
export async function removeTree(folder: string): Promise<void> {
  if (attempt(() => lstatSync(folder).isDirectory(), false)) {
    for await (const { full, info } of walk(folder)) if (info.isDirectory()) chmodSync(full, 0o755);
  }
  rmSync(folder, { recursive: true, force: true });
}
