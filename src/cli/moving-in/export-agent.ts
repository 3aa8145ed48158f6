/** `export` for one agent: writes, moves or undoes, and prints the result. */

import { findForeign } from '../../config/import/find.ts';
import type { Agent } from '../../config/import/foreign-agent.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { variablesOf } from '../../config/variables.ts';
import { PlugboardError } from '../../errors.ts';
import { reveal } from '../../policy/clean.ts';
import { loadEffective } from '../../policy/effective.ts';
import { needsConsent } from '../../policy/needs-consent.ts';
import { planImport } from '../../setup/import-plan.ts';
import { isInPassingCache, ownProgram } from '../../setup/own-program.ts';
import { foreignPlaces } from '../../setup/setup-context.ts';
import type { Context } from '../cli-command.ts';
import { trustDecisions } from '../config-report.ts';
import type { Output } from '../output.ts';
import { type Duplicate, findDuplicates, isServedNow, removeDuplicates } from './agent-duplicates.ts';
import { recordFile } from './export-record.ts';
import { isOwnEntry, undoRecorded } from './recorded-edits.ts';
import { type AgentTarget, type AgentWritten, nameIsTaken, OWN_NAME, writeIntoAgent } from './write-agent.ts';

export async function exportToAgent(
  context: Context,
  target: AgentTarget,
  {
    overwrite,
    move,
    profile,
  }: { readonly overwrite: boolean; readonly move: boolean; readonly profile?: string | undefined },
): Promise<number> {
  const { agent, scope, isDry } = target;
  const { cwd, home, output } = context;
  const config = await loadEffective({ cwd, home, env: context.env });
  const variables = scope === 'project' ? [] : await variablesOfServers(context, config);
  const written = await writeIntoAgent(context, target, { overwrite, variables, profile });
  if (written.action === 'blocked' && !isDry) throw nameIsTaken(agent, written.file);
  const moved = move ? await moveOut(context, target, config) : undefined;
  if (!isDry) noteCache(context, scope);
  const { file, entry, diff, record } = written;
  const action = written.action === 'blocked' ? 'replace' : written.action;
  const isSame = action === 'same' && (moved ?? []).every((each) => each.action === 'keep');
  const document = { agent: agent.id, file, name: OWN_NAME, action, dryRun: isDry, entry, diff };
  output.answer(
    {
      ...document,
      ...(moved === undefined ? {} : { moved: moved.map(duplicateDocument) }),
      ...(isSame || isDry ? {} : { backup: record }),
    },
    () =>
      [
        ...writtenLines(agent, written, { isDry, output }),
        ...duplicateLines(moved ?? [], isDry),
        ...(isSame || isDry ? [] : [`Undo it with: plugboard export --to ${agent.id} --undo`]),
      ].join('\n'),
  );
  return 0;
}

async function moveOut(
  context: Context,
  target: AgentTarget,
  config: LoadedConfig,
): Promise<readonly Duplicate[]> {
  const found = await findForeign([target.agent], foreignPlaces(context, config.projectRoot));
  const planned = await planImport(context, found, config, { scope: undefined, overwrite: false });
  const duplicates = await findDuplicates(context, config, planned, isServedNow(planned));
  return removeDuplicates(context, target, duplicates, config.projectRoot);
}

/** Returns the environment variables used by servers that may run; an unapproved project cannot add any. */
export async function variablesOfServers(
  context: Context,
  { servers }: Pick<LoadedConfig, 'servers'>,
): Promise<readonly string[]> {
  const verdicts = await trustDecisions(servers, context);
  const names = servers
    .filter((spec) => !needsConsent(spec) || verdicts.get(spec.name)?.state === 'trusted')
    .flatMap(({ raw }) => variablesOf(raw));
  return [...new Set(names)];
}

/** Warns if the written program is in npm's cache, which npm may empty. */
export function noteCache({ env, output }: Context, scope: AgentTarget['scope']): void {
  if (scope === 'project' || !isInPassingCache(ownProgram(env))) return;
  output.remark(
    `Plugboard runs from the cache of npx, which npm may empty. Install it: npm install -g plugboard`,
  );
}

function writtenLines(
  agent: Agent,
  { action, file: path, diff }: AgentWritten,
  { isDry, output }: { readonly isDry: boolean; readonly output: Output },
): readonly string[] {
  const { paint } = output;
  const file = reveal(path);
  if (action === 'same') return [`${agent.title} already has Plugboard in ${file}`];
  const lines = diff.map((line) => (line.startsWith('-') ? paint.bad(line) : paint.good(line)));
  if (isDry) return [`Would change ${file}:`, ...lines];
  return [`${paint.good('Wrote')} Plugboard into ${file}:`, ...lines];
}

function duplicateLines(duplicates: readonly Duplicate[], isDry: boolean): readonly string[] {
  const verbs = isDry
    ? { remove: 'Would remove', disable: 'Would switch off', keep: 'Would keep' }
    : { remove: 'Removed', disable: 'Switched off', keep: 'Kept' };
  return duplicates.map(({ agent, name, file, action, reason }) => {
    const why = reason === undefined ? '' : `: ${reveal(reason)}`;
    return `${verbs[action]} ${reveal(name)} in ${agent.title} (${reveal(file)})${why}`;
  });
}

export function duplicateDocument({ agent, name, file, action, reason }: Duplicate): Record<string, unknown> {
  return { agent: agent.id, name, file, action, ...(reason === undefined ? {} : { reason }) };
}

export async function undoExport(context: Context, { agent, scope, isDry }: AgentTarget): Promise<number> {
  const { home, output } = context;
  const undone = await undoRecorded(context, recordFile(home, agent.id, scope), {
    isDry,
    isOurs: isOwnEntry,
  });
  if (undone === undefined) {
    throw new PlugboardError('USAGE', `There is no export to ${agent.title} to undo`, {
      hint: `Run plugboard export --to ${agent.id} to make one.`,
    });
  }
  const { files } = undone;
  const [first] = files;
  output.answer(
    {
      agent: agent.id,
      file: first?.file,
      name: OWN_NAME,
      action: first?.action ?? 'none',
      dryRun: isDry,
      files,
    },
    () => files.map((each) => undoneLine(each, isDry)).join('\n'),
  );
  return 0;
}

export function undoneLine(
  { file: path, action }: { readonly file: string; readonly action: 'restored' | 'removed' | 'none' },
  isDry: boolean,
): string {
  const is = isDry ? 'would be' : 'is';
  const file = reveal(path);
  if (action === 'none') return `${file} no longer exists; there is nothing to undo.`;
  return action === 'restored'
    ? `${file} ${is} as it was before.`
    : `${file} was changed since: Plugboard's edits ${isDry ? 'would be' : 'are'} reversed, and the other changes stay.`;
}
