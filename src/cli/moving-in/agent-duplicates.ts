/** Finds servers that an agent has twice, directly and through Plugboard, and removes them from the agent. */

import { readDocument } from '../../config/document.ts';
import type { ServerSpec } from '../../config/entry.ts';
import { applyEdits, type FileEdit } from '../../config/import/file-edits.ts';
import type { Agent } from '../../config/import/foreign-agent.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { supplierOf } from '../../config/scopes.ts';
import { asPlugboardError } from '../../errors.ts';
import { valueAt } from '../../lib/json.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { admit } from '../../policy/admit.ts';
import type { Planned } from '../../setup/import-plan.ts';
import { foreignPlaces } from '../../setup/setup-context.ts';
import type { Context } from '../cli-command.ts';
import { trustDecisions } from '../config-report.ts';
import { recordFile } from './export-record.ts';
import { editRecorded } from './recorded-edits.ts';
import { type AgentTarget, targetFile } from './write-agent.ts';

/** `remove`: removed from the agent's file. `disable`: disabled there. `keep`: unchanged; `reason` has the cause. */
export interface Duplicate {
  readonly agent: Agent;
  readonly name: string;
  readonly file: string;
  readonly action: 'remove' | 'disable' | 'keep';
  readonly reason?: string;
  readonly planned: Planned;
}

/**
 * Decides what to do with every server of the plan.
 *
 * @param isServed true if Plugboard serves exactly this entry, or will after the import
 */
export async function findDuplicates(
  context: Context,
  config: LoadedConfig,
  planned: readonly Planned[],
  isServed: (each: Planned) => boolean,
): Promise<readonly Duplicate[]> {
  const running = await runningProjectServers(context, config);
  const isOff = await switchedOff(context, config.projectRoot, planned);
  return planned.flatMap((each): Duplicate[] => {
    const { agent, name, file } = each.found;
    const decided = (action: Duplicate['action'], reason?: string): Duplicate[] => [
      { agent, name, file, action, planned: each, ...(reason === undefined ? {} : { reason }) },
    ];
    // Not imported, for a reason that was shown there.
    if (each.action === 'skip') return [];
    if (each.found.scope === 'project') {
      if (each.action !== 'same') return [];
      if (isOff(agent, name)) return [];
      if (!running.has(name))
        return decided('keep', `To let Plugboard run it: plugboard trust ${shellWord(name)}`);
      return agent.switchedOffPath === undefined
        ? decided('keep', `It is in a project file, and ${agent.title} cannot switch it off for one project.`)
        : decided('disable');
    }
    if (each.action === 'keep') return decided('keep', 'It differs from the one that Plugboard serves.');
    if (!isServed(each)) return decided('keep', `Plugboard does not serve it: plugboard import ${agent.id}`);
    if (each.lost.length > 0)
      return decided('keep', `Plugboard serves it without ${each.lost.map(({ key }) => key).join(', ')}.`);
    if (each.found.isReadOnly) return decided('keep', 'Other programs read this file too.');
    return decided('remove');
  });
}

/** True if the entry is in Plugboard's configuration now, and not only in another agent's. */
export function isServedNow(planned: readonly Planned[]): (each: Planned) => boolean {
  const missing = new Set(
    planned.filter(({ action }) => action === 'add' || action === 'replace').map(keyOf),
  );
  return (each) => each.action === 'same' && !missing.has(keyOf(each));
}

/** True if the entry will be in Plugboard's configuration after the import. */
export function isServedAfterImport(each: Planned): boolean {
  return each.action === 'same' || each.action === 'add' || each.action === 'replace';
}

/** Removes duplicates from one agent. Those that cannot be edited safely are returned as kept. */
export async function removeDuplicates(
  context: Context,
  { agent, scope, isDry }: AgentTarget,
  duplicates: readonly Duplicate[],
  projectRoot: string,
): Promise<readonly Duplicate[]> {
  const record = recordFile(context.home, agent.id, scope);
  const done = new Map(duplicates.map((duplicate) => [duplicate, duplicate]));
  const removals = duplicates.filter(({ action }) => action === 'remove');
  for (const path of new Set(removals.map(({ file }) => file))) {
    const here = removals.filter(({ file }) => file === path);
    const file = { path, format: here[0]?.planned.found.format ?? 'json' };
    await editRecorded(context, { file, record, isDry }, async (value, text) => {
      const edits: FileEdit[] = [];
      for (const duplicate of here) {
        const edit = removalOf(duplicate, value);
        if (edit === undefined) continue;
        const problem = await applyEdits(file, text, [...edits, edit]).then(
          () => undefined,
          (thrown: unknown) => asPlugboardError(thrown).message,
        );
        if (problem === undefined) edits.push(edit);
        else done.set(duplicate, { ...duplicate, action: 'keep', reason: problem });
      }
      return edits;
    });
  }
  const switches = duplicates.filter(({ action }) => action === 'disable');
  if (switches.length > 0) {
    const where = foreignPlaces(context, projectRoot);
    const file = targetFile(context, agent, 'user');
    await editRecorded(context, { file, record, isDry }, (value) => {
      const path = agent.switchedOffPath?.(value, where) ?? [];
      return switches
        .filter(({ name }) => !isSwitchedOff(value, path, name))
        .map(({ name }) => ({ kind: 'list', path, item: name }));
    });
  }
  return [...done.values()];
}

function removalOf({ planned }: Duplicate, value: unknown): FileEdit | undefined {
  const { path } = planned.found;
  const before = valueAt(value, path);
  return before === undefined ? undefined : { kind: 'set', path, before };
}

function isSwitchedOff(value: unknown, path: readonly string[], name: string): boolean {
  const list = valueAt(value, path);
  return Array.isArray(list) && list.includes(name);
}

/** Returns a test for servers of project files that are already disabled in their agents. */
async function switchedOff(
  context: Context,
  projectRoot: string,
  planned: readonly Planned[],
): Promise<(agent: Agent, name: string) => boolean> {
  const where = foreignPlaces(context, projectRoot);
  const agents = new Set(planned.map(({ found }) => found.agent));
  const lists = new Map<Agent, (name: string) => boolean>();
  for (const agent of agents) {
    if (agent.switchedOffPath === undefined) continue;
    const { value } = await readDocument(targetFile(context, agent, 'user').path);
    const path = agent.switchedOffPath(value, where);
    lists.set(agent, (name) => isSwitchedOff(value, path, name));
  }
  return (agent, name) => lists.get(agent)?.(name) ?? false;
}

/** Returns the names of the project's servers that may run. */
async function runningProjectServers(context: Context, config: LoadedConfig): Promise<ReadonlySet<string>> {
  const specs: readonly ServerSpec[] = config.servers.filter((spec) => supplierOf(spec) === 'project');
  const verdicts = await trustDecisions(specs, context);
  const authority = { managed: config.managed, env: context.env };
  return new Set(
    specs
      .filter((spec) => admit(spec, verdicts.get(spec.name), authority).status === 'idle')
      .map(({ name }) => name),
  );
}

function keyOf({ found, scope }: Planned): string {
  return JSON.stringify([scope, found.name]);
}
