/** Where other agents keep their files, for whoever runs this command. */

import { homedir } from 'node:os';
import type { Where } from '../config/import/agent.ts';
import type { Context } from './verb.ts';

export function foreignPlaces({ env }: Context, projectRoot: string): Where {
  return { env, platform: process.platform, userHome: env['HOME'] || homedir(), projectRoot };
}
