/** Where to look on this machine: files of other agents, and system programs. */

import { homedir } from 'node:os';
import { findProjectRoot } from '../config/home.ts';
import type { Where } from '../config/import/foreign-agent.ts';
import { environmentOutside } from '../lib/find-program.ts';
import type { Context } from './cli-command.ts';

/** Locates the configuration files of other agents for the person who runs the command. */
export function foreignPlaces({ env }: Context, projectRoot: string): Where {
  return { env, platform: process.platform, userHome: env['HOME'] || homedir(), projectRoot };
}

/** Returns the environment for looking up system programs, without search paths into the project (A24). */
export function programEnvironment({ env, cwd }: Pick<Context, 'env' | 'cwd'>): NodeJS.ProcessEnv {
  return environmentOutside(env, findProjectRoot(cwd));
}
