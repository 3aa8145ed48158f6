/** What the functions of this folder use: they change the configuration for a person, from the command line or the page. */

import { homedir } from 'node:os';
import type { Home } from '../config/home.ts';
import type { Where } from '../config/import/foreign-agent.ts';

export interface SetupContext {
  /** The folder that the project is searched from. */
  readonly cwd: string;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  /** Shows a note to the person. */
  readonly note?: ((message: string) => void) | undefined;
}

/** Locates the configuration files of other agents for this person. */
export function foreignPlaces({ env }: Pick<SetupContext, 'env'>, projectRoot: string): Where {
  return { env, platform: process.platform, userHome: env['HOME'] || homedir(), projectRoot };
}
