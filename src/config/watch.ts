/** Watches files for changes, existing or not. */

import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { realPath } from '../lib/inside.ts';

/** Editors and atomic writes touch a file several times in a row. */
const SETTLE_MS = 100;

/** Watches the files' folders, so that replacing, removing or creating a file is detected too. */
export function watchFiles(files: readonly string[], clock: Clock, changed: () => void): () => void {
  let cancelTimer: (() => void) | undefined;
  let stopped = false;
  const watchers: FSWatcher[] = [];
  for (const [folder, names] of namesByFolder(files)) {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (stopped || (name !== null && !names.has(name))) return;
        cancelTimer?.();
        cancelTimer = clock.after(SETTLE_MS, changed);
      });
      // The files of a removed folder are gone too; the next reload detects that.
      watcher.on('error', () => watcher.close());
      watchers.push(watcher);
    } catch {
      // The folder does not exist, or the limit of watches is reached: reload() still works.
    }
  }
  return () => {
    stopped = true;
    cancelTimer?.();
    for (const watcher of watchers) watcher.close();
  };
}

function namesByFolder(files: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const byFolder = new Map<string, Set<string>>();
  for (const file of files) {
    // Dotfile managers link to a file in another folder: an edit there does not touch the link's folder.
    for (const path of new Set([file, realPath(file)])) {
      getOrMake(byFolder, dirname(path), () => new Set<string>()).add(basename(path));
    }
  }
  return byFolder;
}
