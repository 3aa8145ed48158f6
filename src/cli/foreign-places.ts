/** Locates the configuration files of other agents for the person who runs the command. */

import { homedir } from 'node:os';
import type { Where } from '../config/import/foreign-agent.ts';
import type { Context } from './cli-command.ts';

export function foreignPlaces({ env }: Context, projectRoot: string): Where {
  return { env, platform: process.platform, userHome: env['HOME'] || homedir(), projectRoot };
}
