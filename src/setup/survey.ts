/** Finds the agents and servers on this machine, and plans their import. */

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Found, findForeign } from '../config/import/find.ts';
import type { Agent, Where } from '../config/import/foreign-agent.ts';
import type { LoadedConfig } from '../config/load.ts';
import { loadEffective } from '../policy/effective.ts';
import { type PlannedInput, planInputs } from './import-inputs.ts';
import { type Planned, type PlanOptions, planImport } from './import-plan.ts';
import type { SetupContext } from './setup-context.ts';
import { foreignPlaces } from './setup-context.ts';

export interface Survey {
  readonly config: LoadedConfig;
  readonly found: Found;
  readonly planned: readonly Planned[];
  readonly inputs: readonly PlannedInput[];
}

/** `options`: the scope to write to, and whether entries are replaced; default: as in the agent, and not. */
export async function takeSurvey(
  context: SetupContext,
  agents: readonly Agent[],
  options: PlanOptions = { scope: undefined, overwrite: false },
): Promise<Survey> {
  const { cwd, home } = context;
  const config = await loadEffective({ cwd, home, env: context.env });
  const found = await findForeign(agents, foreignPlaces(context, config.projectRoot));
  const all = await planImport(context, found, config, options);
  const planned = options.scope === undefined ? all.map(withoutProjectFiles) : all;
  return { config, found, planned, inputs: await planInputs(context, found, planned, config.projectRoot) };
}

/** Servers in project files are not imported, because that would write to the project's file, which a team shares. */
function withoutProjectFiles(planned: Planned): Planned {
  const { found, action } = planned;
  if (found.scope !== 'project' || (action !== 'add' && action !== 'replace')) return planned;
  const reason = `It is in a project file and stays there. To import it only for you: plugboard import ${found.agent.id} -s local`;
  return { ...planned, action: 'skip', reason, notes: [], changes: [] };
}

/** True if one of the agent's files, or the folder for them, exists. */
export function isInstalled(agent: Agent, where: Where): boolean {
  const folders = agent.folder === undefined ? [] : [agent.folder(where)];
  return (
    folders.some(existsSync) ||
    agent
      .files(where)
      .filter(({ scope, readOnly }) => scope === 'user' && readOnly !== true)
      .some(({ path }) => existsSync(path) || (dirname(path) !== where.userHome && existsSync(dirname(path))))
  );
}
