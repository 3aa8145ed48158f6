/** Checks that a profile named on the command line can be used. */

import { placeText } from '../config/document.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { isChain, profileChain } from '../config/profiles.ts';
import { PlugboardError } from '../errors.ts';
import type { Context } from './cli-command.ts';

/** @throws PlugboardError CONFIG_INVALID if there is none of this name, it has a problem, or config.json cannot be read. */
export async function checkProfile(
  { cwd, home }: Pick<Context, 'cwd' | 'home'>,
  name: string,
): Promise<void> {
  checkProfileIn(await loadConfig({ cwd, home }), home, name);
}

/** As `checkProfile`, in a configuration that was loaded before. */
export function checkProfileIn(
  { settings, unreadable, problems }: LoadedConfig,
  { config }: Context['home'],
  name: string,
): void {
  const found = profileChain(settings, name);
  if (isChain(found)) return;
  const broken = unreadable.includes(config) ? problems.find(({ file }) => file === config) : undefined;
  if (broken !== undefined)
    throw new PlugboardError('CONFIG_INVALID', `${placeText(broken)}: ${broken.message}`, {
      hint: `Fix the file: the profile ${JSON.stringify(name)} cannot be looked up in it.`,
    });
  const hasNone = Object.keys(settings.profiles ?? {}).length === 0;
  throw new PlugboardError('CONFIG_INVALID', found.message, {
    hint: hasNone
      ? `There are no profiles in ${config}. Add it to "profiles" there.`
      : (found.hint ?? 'Run plugboard profile list to see its problem.'),
  });
}
