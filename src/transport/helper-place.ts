/** Determines the folder and environment of a `headersHelper`: the same as for a server of the same scope (A24). */

import type { RemoteEntry, ServerSpec } from '../config/entry.ts';
import { PROJECT_VARIABLE } from '../config/expand.ts';
import type { Home } from '../config/home.ts';
import { isForeign } from '../config/scopes.ts';
import { serverEnvironment } from './server-environment.ts';
import { chosenFolder, privateFolder } from './start-folder.ts';

export interface HelperContext {
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
}

/**
 * A user's own helper gets the user's environment, without search paths into the project. A helper of a project or
 * plugin gets the environment of its servers, and the variables that its command names.
 */
export async function helperPlace(
  spec: ServerSpec,
  { headersHelper = '' }: Pick<RemoteEntry, 'headersHelper'>,
  { env, home }: HelperContext,
): Promise<{ readonly cwd: string; readonly env: NodeJS.ProcessEnv }> {
  const named: readonly string[] = headersHelper.match(/\b[A-Za-z_]\w*/g) ?? [];
  const own = serverEnvironment(spec, isForeign(spec) ? { envVars: named } : { inheritEnv: true }, env);
  const { projectDir = spec.baseDir } = spec;
  return {
    cwd: chosenFolder(spec, {}) ?? (await privateFolder(home, spec, env)),
    env: named.includes(PROJECT_VARIABLE) ? { ...own, [PROJECT_VARIABLE]: projectDir } : own,
  };
}
