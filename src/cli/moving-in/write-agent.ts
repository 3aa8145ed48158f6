/** Writes Plugboard into the configuration of one agent. */

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { findProjectRoot } from '../../config/home.ts';
import type { Agent, ForeignFile, NeededVariable, Program } from '../../config/import/foreign-agent.ts';
import { type Written, writeProgram } from '../../config/import/write-program.ts';
import { PlugboardError } from '../../errors.ts';
import { isRecord, type JsonObject, valueAt } from '../../lib/json.ts';
import { ownProgram } from '../../setup/own-program.ts';
import { foreignPlaces } from '../../setup/setup-context.ts';
import type { Context } from '../cli-command.ts';
import { recordFile } from './export-record.ts';
import { editRecorded, isOwnEntry } from './recorded-edits.ts';

/** Name of our entry in every agent. */
export const OWN_NAME = 'plugboard';

export type AgentScope = 'user' | 'project';

export interface AgentTarget {
  readonly agent: Agent;
  readonly scope: AgentScope;
  readonly isDry: boolean;
}

export interface WriteOptions {
  /** Replaces a different server called "plugboard". */
  readonly overwrite: boolean;
  /** Names of variables that entries refer to. */
  readonly variables: readonly string[];
  /** The profile that the agent gets; default: everything. */
  readonly profile?: string | undefined;
}

export interface AgentWritten {
  readonly file: string;
  /** `blocked`: a different server has our name, and nothing was written. */
  readonly action: Written['action'] | 'blocked';
  readonly entry: JsonObject;
  readonly diff: readonly string[];
  /** Path of the undo record. */
  readonly record: string;
}

/** @throws PlugboardError CONFIG_UNWRITABLE when the file does not parse or cannot be edited safely. */
export async function writeIntoAgent(
  context: Context,
  { agent, scope, isDry }: AgentTarget,
  { overwrite, variables, profile }: WriteOptions,
): Promise<AgentWritten> {
  const file = targetFile(context, agent, scope);
  const record = recordFile(context.home, agent.id, scope);
  const program = programFor(context, scope, profile);
  let written: Written | undefined;
  let isBlocked = false;
  const { before, after } = await editRecorded(context, { file, record, isDry }, async (value, text) => {
    const previous = valueAt(value, agent.placeOf(value, OWN_NAME));
    const isOwn = isOwnEntry(previous);
    const listed = isOwn && isRecord(previous) ? (agent.variablesIn?.(previous) ?? []) : [];
    const needed = scope === 'project' ? [] : neededVariables([...listed, ...variables], context.env);
    written = await writeProgram(agent, file, text, {
      name: OWN_NAME,
      program: { ...program, variables: needed },
    });
    isBlocked = written.action === 'replace' && !overwrite && !isOwn;
    if (written.action === 'same' || (isBlocked && !isDry)) return [];
    const { path, entry } = written;
    return [{ kind: 'set', path, ...(previous === undefined ? {} : { before: previous }), after: entry }];
  });
  if (written === undefined) throw new Error(`${file.path} was not read`);
  const { action, entry } = written;
  return {
    file: file.path,
    action: isBlocked ? 'blocked' : action,
    entry,
    diff: action === 'same' ? [] : lineDiff(before ?? '', after),
    record,
  };
}

/** Returns the file that exists, else one whose folder exists, else the first. */
export function targetFile(context: Context, agent: Agent, scope: AgentScope): ForeignFile {
  const where = foreignPlaces(context, findProjectRoot(context.cwd));
  const files = agent.files(where).filter((file) => file.scope === scope && file.readOnly !== true);
  const existing =
    files.find(({ path }) => existsSync(path)) ?? files.find(({ path }) => existsSync(dirname(path)));
  const file = existing ?? files[0];
  if (file !== undefined) return file;
  throw new PlugboardError('USAGE', `${agent.title} has no project file`, {
    hint: 'Remove --scope.',
  });
}

/** A project's file is committed, so it has the program's name, which every machine can find, instead of a path. */
function programFor({ env }: Context, scope: AgentScope, profile: string | undefined): Program {
  const [command = OWN_NAME, ...args] = scope === 'project' ? [OWN_NAME] : ownProgram(env);
  const home = scope === 'project' ? undefined : env['PLUGBOARD_HOME'];
  return {
    command,
    args: [...args, 'serve', '--stdio', ...(profile === undefined ? [] : ['--profile', profile])],
    // The agent may start without this variable, and would then serve a different home.
    env: home ? { PLUGBOARD_HOME: home } : {},
  };
}

function neededVariables(names: readonly string[], env: NodeJS.ProcessEnv): NeededVariable[] {
  return [...new Set(names)].sort().map((name) => ({ name, isSet: env[name] !== undefined }));
}

export function nameIsTaken(agent: Agent, file: string): PlugboardError {
  return new PlugboardError('USAGE', `${agent.title} has another server called "${OWN_NAME}" in ${file}`, {
    hint: 'Use --overwrite to replace it, or --dry-run to see what would change.',
  });
}

/** Returns removed (`- …`) and added (`+ …`) lines between the common start and end. */
function lineDiff(before: string, after: string): string[] {
  const old = linesOf(before);
  const now = linesOf(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  const room = Math.min(old.length, now.length) - start;
  while (end < room && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  return [
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...now.slice(start, now.length - end).map((line) => `+ ${line}`),
  ];
}

function linesOf(text: string): string[] {
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}
