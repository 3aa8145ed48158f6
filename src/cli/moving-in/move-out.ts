/** `plugboard down`: reverts the edits of `up` and `export`; with `all`, removes all files and secrets of Plugboard. */

import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findHome, type Home } from '../../config/home.ts';
import { AGENTS } from '../../config/import/agents.ts';
import { inputIds } from '../../config/inputs.ts';
import { loadConfig } from '../../config/load.ts';
import { stopDaemons } from '../../daemon/client/control.ts';
import { asPlugboardError, EXIT_STATUS } from '../../errors.ts';
import { counted } from '../../lib/counted.ts';
import { oneLine } from '../../policy/clean.ts';
import { isAgreed } from '../ask.ts';
import type { Context } from '../cli-command.ts';
import { removeService } from '../service/service-manager.ts';
import { openInputs } from '../settle-inputs.ts';
import { undoneLine } from './export-agent.ts';
import { recordedAgents, recordFile } from './export-record.ts';
import { homeRecordFile, isOwnEntry, type Undone, undoRecorded } from './recorded-edits.ts';

export interface DownOptions {
  readonly isDry: boolean;
  readonly all: boolean;
  readonly yes: boolean;
}

/** Outcome for the files of one agent, or the reason why they were left unchanged. */
interface AgentUndone {
  readonly agent: string;
  readonly files: readonly Undone[];
  readonly problem?: string;
}

/** Names of all files and folders that Plugboard creates in its home. */
const OWN_NAMES =
  /^(?:config\.json|credentials\.json|trust\.json|pins\.json|tasks\.json|gateway-token|manage-token|tokens\.json|session-key|sessions|audit.*\.jsonl.*|cache|outputs|folders|run|logs|exports|threads|chats|plugins|data)$/;

export async function moveOut(context: Context, options: DownOptions): Promise<number> {
  const { output, home } = context;
  const { isDry, all } = options;
  if (
    all &&
    !isDry &&
    !(await isAgreed(context, `Remove the service, all stored secrets and ${home.dir}?`, options))
  ) {
    output.answer({ dryRun: false, changed: false }, () => 'Nothing was changed.');
    return 0;
  }
  const agents: AgentUndone[] = [];
  for (const agent of await recordedAgents(home, 'user')) agents.push(await undoAgent(context, agent, isDry));
  const isWhole = agents.every(({ problem }) => problem === undefined);
  const config = await undoConfig(context, isDry);
  // The records are needed to restore the remaining agents later, so keep them if one failed.
  const removed = all && isWhole ? await removeAll(context, isDry) : undefined;
  const files = [...agents.flatMap((each) => each.files), ...config.files];
  output.answer(
    {
      dryRun: isDry,
      changed: !isDry && (files.length > 0 || config.values.length > 0 || removed !== undefined),
      agents,
      config: config.files,
      values: config.values,
      ...(removed ?? {}),
    },
    () => downLines({ agents, config, removed, isDry, home }).join('\n'),
  );
  return isWhole ? 0 : EXIT_STATUS.CONFIG_UNWRITABLE;
}

async function undoAgent(context: Context, agent: string, isDry: boolean): Promise<AgentUndone> {
  try {
    const record = recordFile(context.home, agent, 'user');
    const undone = await undoRecorded(context, record, { isDry, isOurs: isOwnEntry });
    return { agent, files: undone?.files ?? [] };
  } catch (thrown) {
    return { agent, files: [], problem: asPlugboardError(thrown).message };
  }
}

interface ConfigUndone {
  readonly files: readonly Undone[];
  /** Ids of stored values that were deleted. */
  readonly values: readonly string[];
}

/** Removes imported servers, unless they were changed since, and stored values that no server refers to. */
async function undoConfig(context: Context, isDry: boolean): Promise<ConfigUndone> {
  const { home, cwd } = context;
  const undone = await undoRecorded(context, homeRecordFile(home), { isDry, isOurs: () => false });
  if (undone === undefined) return { files: [], values: [] };
  const stored = undone.record.storedInputs ?? [];
  if (isDry) return { files: undone.files, values: stored };
  const { servers, shadowed } = await loadConfig({ cwd, home });
  const used = new Set([...servers, ...shadowed].flatMap(inputIds));
  const unused = stored.filter((id) => !used.has(id));
  const store = openInputs(context);
  for (const id of unused) await store.remove({ id, owner: '' });
  return { files: undone.files, values: unused };
}

interface AllRemoved {
  readonly service: { readonly file: string; readonly removed: boolean } | null;
  readonly secrets: number;
  readonly home: { readonly removed: boolean; readonly left: readonly string[] };
}

async function removeAll(context: Context, isDry: boolean): Promise<AllRemoved> {
  const { home, env } = context;
  if (isDry) return { service: null, secrets: 0, home: { removed: false, left: [] } };
  // On a system without services there is nothing to remove.
  const service = await removeService(context).catch(() => null);
  await stopDaemons(home);
  const { openSecrets } = await import('../../secrets/store.ts');
  const secrets = await openSecrets({ home, env }).clear();
  return { service, secrets, home: await removeHome(home, env) };
}

/** A folder named by PLUGBOARD_HOME may contain other files: only Plugboard's own are removed. */
async function removeHome(home: Home, env: NodeJS.ProcessEnv): Promise<AllRemoved['home']> {
  const { PLUGBOARD_HOME: _, ...others } = env;
  if (home.dir === findHome(others).dir) await rm(home.dir, { recursive: true, force: true });
  else {
    for (const name of await readdir(home.dir).catch(() => []))
      if (OWN_NAMES.test(name)) await rm(join(home.dir, name), { recursive: true, force: true });
    await rmdir(home.dir).catch(() => {});
  }
  const left = await readdir(home.dir).catch(() => undefined);
  return { removed: left === undefined, left: left ?? [] };
}

function downLines({
  agents,
  config,
  removed,
  isDry,
  home,
}: {
  readonly agents: readonly AgentUndone[];
  readonly config: ConfigUndone;
  readonly removed: AllRemoved | undefined;
  readonly isDry: boolean;
  readonly home: Home;
}): readonly string[] {
  const would = (done: string, isTo: string): string => (isDry ? isTo : done);
  const lines = [
    ...agents.flatMap(({ agent, files, problem }) =>
      problem === undefined
        ? files.map((file) => undoneLine(file, isDry))
        : [`${titleOf(agent)} was not changed: ${oneLine(problem)}`],
    ),
    ...config.files.map((file) => undoneLine(file, isDry)),
    ...config.values.map((id) => `${would('Deleted', 'Would delete')} the stored value of ${id}.`),
  ];
  if (removed === undefined) return lines.length === 0 ? ['There is nothing to undo.'] : lines;
  if (isDry) return [...lines, `Would remove the service, all stored secrets and ${home.dir}.`];
  const { service, secrets, home: gone } = removed;
  return [
    ...lines,
    ...(service?.removed === true ? [`Removed the service: ${service.file}`] : []),
    ...(secrets === 0 ? [] : [`Deleted ${counted(secrets, 'stored secret')}.`]),
    gone.removed
      ? `Removed ${home.dir}.`
      : `Removed Plugboard's files in ${home.dir}; other files were kept: ${gone.left.join(', ')}`,
  ];
}

function titleOf(id: string): string {
  return AGENTS.find((agent) => agent.id === id)?.title ?? id;
}
