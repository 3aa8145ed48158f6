/** Where to look for programs of this machine. */

import { findProjectRoot } from '../config/home.ts';
import { environmentOutside } from '../lib/find-program.ts';
import type { Context } from './cli-command.ts';

/** Returns the environment for looking up system programs, without search paths into the project (A24). */
export function programEnvironment({ env, cwd }: Pick<Context, 'env' | 'cwd'>): NodeJS.ProcessEnv {
  return environmentOutside(env, findProjectRoot(cwd));
}
