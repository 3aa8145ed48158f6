/** Who an entry belongs to: the person, or one project's or plugin's folder. Rules and logins are kept by it. */

import { dirname } from 'node:path';
import { isForeign, type ServerSpec } from './entry.ts';

/** The folder of the file that supplies the entry; empty for the person's own. */
export function entryOwner(spec: Pick<ServerSpec, 'scope' | 'file' | 'baseDir'>): string {
  if (!isForeign(spec)) return '';
  // A plugin's entries can be in several files of its folder.
  return spec.scope === 'plugin' || spec.file === undefined ? spec.baseDir : dirname(spec.file);
}
