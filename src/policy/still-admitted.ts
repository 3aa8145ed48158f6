/** Looks once more before a server starts: hours may lie between its admission and that (A11). */

import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { type Authority, admit } from './admit.ts';
import { openTrust } from './trust.ts';

/** Throws the reason why not. A script that the entry names may be another one than was consented to. */
export async function checkStillAdmitted(
  spec: ServerSpec,
  { home, env, authority }: { home: Home; env: NodeJS.ProcessEnv; authority: Authority },
): Promise<void> {
  const verdicts = await openTrust({ home, env }).verdicts([spec]);
  const admission = admit(spec, verdicts.get(spec.name), authority);
  if ('error' in admission) throw admission.error;
}
