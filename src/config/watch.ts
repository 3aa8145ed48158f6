/** Tells when one of some files may have changed, whether it exists yet or not. */

import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from '../lib/clock.ts';

/** Editors and atomic writes touch a file several times in a row. */
const SETTLE_MS = 100;

/** Watches the files' folders, so that a file that is replaced, removed or made anew is noticed too. */
export function watchFiles(files: readonly string[], clock: Clock, changed: () => void): () => void {
  const byFolder = new Map<string, Set<string>>();
  for (const file of files) {
    const folder = dirname(file);
    byFolder.set(folder, (byFolder.get(folder) ?? new Set()).add(basename(file)));
  }
  let cancelTimer: (() => void) | undefined;
  const watchers: FSWatcher[] = [];
  for (const [folder, names] of byFolder) {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name !== null && !names.has(name)) return;
        cancelTimer?.();
        cancelTimer = clock.after(SETTLE_MS, changed);
      });
      // A folder that goes away takes its files with it; the next reload sees that.
      watcher.on('error', () => watcher.close());
      watchers.push(watcher);
    } catch {
      // No such folder, or no more watches to be had: reload() still works.
    }
  }
  return () => {
    cancelTimer?.();
    for (const watcher of watchers) watcher.close();
  };
}
