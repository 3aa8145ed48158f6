/** Determines the program, arguments, folder and environment of a server's process. */

import type { ServerSpec, StdioEntry } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { isForeign } from '../config/scopes.ts';
import { isInside, realPath } from '../lib/inside.ts';
import { shielded } from './launchers.ts';
import { serverEnvironment } from './server-environment.ts';
import { chosenFolder, privateFolder } from './start-folder.ts';

export interface LaunchPlan {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface LaunchPlanOptions {
  readonly spec: ServerSpec;
  /** With its variables expanded. */
  readonly entry: StdioEntry;
  /** The session's environment; the process gets a part of it. */
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
}

export async function planLaunch({ spec, entry, env, home }: LaunchPlanOptions): Promise<LaunchPlan> {
  const { command, args = [] } = entry;
  const own = serverEnvironment(spec, entry, env);
  const chosen = chosenFolder(spec, entry);
  const { baseDir, projectDir = baseDir } = spec;
  if (isForeign(spec) && spec.shielded !== true) return { command, args, cwd: chosen ?? baseDir, env: own };
  const empty = await privateFolder(home, spec, env);
  const cwd = chosen ?? empty;
  // Launchers read project settings from every folder above their working folder.
  const isExposed =
    isInside(realPath(cwd), realPath(projectDir)) || isInside(realPath(cwd), realPath(baseDir));
  return isExposed
    ? { cwd, ...shielded({ command, args, env: own }, empty) }
    : { command, args, cwd, env: own };
}
