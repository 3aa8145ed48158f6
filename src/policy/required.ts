/** Whether a server that did not come up fails the whole. */

import { isForeign, type ServerSpec } from '../config/entry.ts';

/** True for an entry with `required`, unless it is a project's or plugin's without consent: such an entry requires nothing (A32). */
export function isRequired(spec: ServerSpec, status: string | undefined): boolean {
  return spec.entry.required === true && !(status === 'untrusted' && isForeign(spec));
}
