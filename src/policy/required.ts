/** Decides whether a server that failed to start fails the whole operation. */

import type { ServerSpec } from '../config/entry.ts';
import { isForeign } from '../config/scopes.ts';

/** True for an entry with `required`; in a project's or plugin's entry without approval it has no effect (A32). */
export function isRequired(spec: ServerSpec, status: string | undefined): boolean {
  return spec.entry.required === true && !(status === 'untrusted' && isForeign(spec));
}
