/** Checks admission again before a server starts, since hours may have passed (A11). */

import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { type Authority, admit } from './admit.ts';
import { openTrust } from './trust.ts';

/** Throws the reason if the server is no longer admitted, e.g. because an approved script has changed. */
export async function checkStillAdmitted(
  spec: ServerSpec,
  { home, env, authority }: { home: Home; env: NodeJS.ProcessEnv; authority: Authority },
): Promise<void> {
  const verdicts = await openTrust({ home, env }).verdicts([spec]);
  const admission = admit(spec, verdicts.get(spec.name), authority);
  if ('error' in admission) throw admission.error;
}
