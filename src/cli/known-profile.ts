/** Checks that a profile named on the command line can be used. */

import { loadConfig } from '../config/load.ts';
import { isChain, profileChain } from '../config/profiles.ts';
import { PlugboardError } from '../errors.ts';
import type { Context } from './cli-command.ts';

/** @throws PlugboardError CONFIG_INVALID if there is none of this name, or it has a problem. */
export async function checkProfile(
  { cwd, home }: Pick<Context, 'cwd' | 'home'>,
  name: string,
): Promise<void> {
  const { settings } = await loadConfig({ cwd, home });
  const found = profileChain(settings, name);
  if (isChain(found)) return;
  throw new PlugboardError('CONFIG_INVALID', found.message, {
    hint: found.hint ?? 'Run plugboard profile list to see its problem.',
  });
}
