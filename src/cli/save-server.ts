/** Writes new entries: validates them, writes them, and approves those that the person adds to a project. */

import { checkNewEntry, expandedSpec, takeClientSecret } from '../config/check-new-entry.ts';
import { editTarget, setServer } from '../config/edit-config.ts';
import type { ServerSpec } from '../config/entry.ts';
import { findProjectRoot } from '../config/home.ts';
import { inputOwner } from '../config/inputs.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { type LockedServer, lockPlace } from '../config/lock-file.ts';
import { parseEntry } from '../config/parse.ts';
import { placeholdersIn } from '../config/placeholders.ts';
import { relativePathProblem, withAbsolutePaths } from '../config/relative-paths.ts';
import { type EditableScope, isForeign } from '../config/scopes.ts';
import { EXIT_STATUS, type PlugboardError } from '../errors.ts';
import { joinArgv } from '../lib/argv.ts';
import { findProgram, withoutProject } from '../lib/find-program.ts';
import type { JsonObject } from '../lib/json.ts';
import { sentences } from '../lib/sentences.ts';
import { admit } from '../policy/admit.ts';
import { oneLine } from '../policy/clean.ts';
import { waitingFor } from '../policy/consent-terms.ts';
import { withConsent } from '../policy/effective.ts';
import { needsConsent } from '../policy/needs-consent.ts';
import { scanEntry } from '../policy/scan-entry.ts';
import { keepClientSecret } from '../setup/client-secret.ts';
import { checkStartValues } from '../transport/check-entry.ts';
import type { Context } from './cli-command.ts';
import { consentStore, errorDocument, serverDocument, trustDecisions } from './config-report.ts';
import { entryPairs, lockLine, pairLines, presentPairs } from './entry-lines.ts';
import { describeFailure } from './report-failure.ts';
import { SCOPE_MEANING } from './scope-flag.ts';
import { settleSharedSecrets } from './shared-secrets.ts';

export interface NewServer {
  readonly name: string;
  readonly raw: JsonObject;
  readonly scope: EditableScope;
  /** Replaces an existing entry with this name in this scope. */
  readonly replace: boolean;
  /** Allows a literal secret in a project's file. */
  readonly allowSecret: boolean;
  /** The lock of its package, if it is known. */
  readonly lock?: LockedServer | undefined;
}

export async function saveServer(context: Context, server: NewServer): Promise<number> {
  const written = await writeServer(context, server);
  context.output.answer(written.document, () => written.lines.join('\n'));
  return report([written], context);
}

/** Writes several servers. All are validated before the first is written. */
export async function saveServers(context: Context, servers: readonly NewServer[]): Promise<number> {
  for (const { name, raw, scope } of servers) checkNewEntry(name, raw, scope);
  const written: Written[] = [];
  for (const server of servers) written.push(await writeServer(context, server));
  context.output.answer({ servers: written.map(({ document }) => document) }, () =>
    written.map(({ lines }) => lines.join('\n')).join('\n'),
  );
  return report(written, context);
}

/** Prints notes on stderr; an entry blocked by policy sets the exit status. */
function report(written: readonly Written[], context: Context): number {
  const { output } = context;
  for (const { notes } of written) for (const note of notes) noteLine(note, context);
  const blocked = written.flatMap(({ error }) => error ?? []);
  // With --json the error is part of the document.
  for (const error of output.json ? [] : blocked) output.note(describeFailure(error, output));
  return blocked[0] === undefined ? 0 : EXIT_STATUS[blocked[0].code];
}

interface Written {
  readonly document: Record<string, unknown>;
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  /** Why the entry cannot be used although it was written. */
  readonly error?: PlugboardError;
}

async function writeServer(context: Context, server: NewServer): Promise<Written> {
  const { name, scope, replace } = server;
  const { home, output } = context;
  noteFaults(server, context);
  const { raw: given, secret } = takeClientSecret(server.raw);
  const { projectRoot } = await loadConfig({ cwd: context.cwd, home });
  const target = editTarget(scope, { home, projectRoot });
  // A project's file is shared, and its servers start in the project.
  const isShared = isForeign(target);
  const { raw: own, changes } = isShared ? { raw: given, changes: [] } : ownEntry(given, context);
  checkValues({ name, raw: own, scope });
  const { raw, inputs } = isShared
    ? await settleSharedSecrets(context, { name, raw: given }, { allow: server.allowSecret })
    : { raw: own, inputs: new Map<string, string>() };
  // The secret is stored under the expanded url that a login uses; expanded before anything is written, as it may fail.
  const place = { scope, file: target.file, baseDir: projectRoot };
  const expanded = secret === undefined ? undefined : expandedSpec(name, raw, place, context.env);
  await setServer(target, name, raw, { home, replace, signal: context.signal });
  if (server.lock !== undefined) await keepLock(context, { name, ...place }, server.lock);

  const config = await loadConfig({ cwd: context.cwd, home });
  const all = [...config.servers, ...config.shadowed].filter((spec) => spec.name === name);
  const added = all.find((spec) => spec.scope === scope && spec.file === target.file);
  if (added === undefined) throw new Error(`the entry for ${name} was written but is not in ${target.file}`);
  if (needsConsent(added)) await (await consentStore(context)).grant([added]);
  const keptIn =
    secret === undefined || expanded === undefined
      ? undefined
      : await keepClientSecret(context, expanded, secret);
  await keepInputs(context, added, inputs);

  const verdicts = await trustDecisions([added], context);
  const authority = { managed: config.managed, env: context.env };
  const { paint } = output;
  const admission = admit(added, verdicts.get(name), authority);
  const error = admission.status === 'blocked' ? admission.error : undefined;
  return {
    ...(error === undefined ? {} : { error }),
    document: {
      ...serverDocument(added, verdicts, authority),
      ...(error === undefined ? {} : { error: errorDocument(error) }),
    },
    lines: [
      `${paint.good('Added')} ${name} (${scope} scope: ${SCOPE_MEANING[scope]}) to ${target.file}`,
      ...pairLines([...entryPairs(added), ...presentPairs([['lock', lockLine(added)]])]),
      ...(keptIn === undefined
        ? []
        : [`The client's secret is kept in ${keptIn === 'file' ? home.credentials : 'the keyring'}.`]),
      ...(needsConsent(added) ? ['Approved on this machine, because you added it yourself.'] : []),
      ...(error === undefined ? [paint.faint(nextStep(added))] : []),
    ],
    notes: [
      ...changes.map(({ from, to }) => {
        const isHere = from === '.' && scope === 'user';
        const instead = isHere ? "; '${PROJECT_DIR}' would be the project that you are in at the time" : '';
        return `${from} is stored as ${to}${instead}.`;
      }),
      ...shadowingNotes(added, await withConsent(config, { home, env: context.env })),
      ...pathNotes(added),
      ...placeholdersIn(added.raw).map(
        ({ key, text }) =>
          `${key} looks like a placeholder (${text}): replace it with plugboard set ${joinArgv([name])} ${key}=<value>`,
      ),
      ...scanEntry(added, config.servers),
    ],
  };
}

async function keepLock(
  { home }: Context,
  spec: Pick<ServerSpec, 'name' | 'scope' | 'file' | 'baseDir'>,
  lock: LockedServer,
): Promise<void> {
  const at = lockPlace(spec);
  if (at === undefined) return;
  const { writeLock } = await import('../lock/write-lock.ts');
  await writeLock(home, at, lock);
}

function nextStep({ name, entry }: ServerSpec): string {
  return entry.enabled === false
    ? `It is disabled. Run ${joinArgv(['plugboard', 'enable', name])} to use it.`
    : `Not started yet. Run ${joinArgv(['plugboard', 'test', name])} to connect and check its tools.`;
}

/** Notes a relative path that does not exist here and would not be found from the folder in which the server starts. */
function pathNotes(spec: ServerSpec): string[] {
  const problem = relativePathProblem(spec);
  return problem === undefined ? [] : [sentences(problem.message, problem.hint)];
}

function noteLine(text: string, { output }: Context): void {
  output.remark(oneLine(text));
}

/** Validates before writing the values that are otherwise read when the server starts. */
function checkValues({ name, raw, scope }: Pick<NewServer, 'name' | 'raw' | 'scope'>): void {
  const { entry } = parseEntry(name, raw, scope);
  if (entry !== undefined) checkStartValues(name, entry);
}

/** Stores the answers to the references that replaced secrets. */
export async function keepInputs(
  context: Context,
  spec: ServerSpec,
  inputs: ReadonlyMap<string, string>,
): Promise<void> {
  if (inputs.size === 0) return;
  const { openInputs } = await import('./settle-inputs.ts');
  const store = openInputs(context);
  for (const [id, value] of inputs) await store.set({ id, owner: inputOwner(spec) }, value);
}

/**
 * Returns an entry for local or user scope, which does not start in this folder: with absolute paths, and with the
 * absolute path of a program that is only found through a search path into this project.
 */
function ownEntry(given: JsonObject, { cwd, env }: Context): ReturnType<typeof withAbsolutePaths> {
  const { raw, changes } = withAbsolutePaths(given, cwd);
  const { command } = raw;
  const path = env['PATH'] ?? '';
  if (typeof command !== 'string') return { raw, changes };
  const here = findProgram(command, path);
  if (here === undefined || here === findProgram(command, withoutProject(path, findProjectRoot(cwd)))) {
    return { raw, changes };
  }
  return { raw: { ...raw, command: here }, changes: [...changes, { from: command, to: here }] };
}

function noteFaults({ name, raw, scope }: NewServer, context: Context): void {
  for (const { message, hint } of checkNewEntry(name, raw, scope))
    noteLine(sentences(message, hint), context);
}

/** Only the approved entry with the highest precedence is used, so a new entry may be hidden, or hide another. */
function shadowingNotes(added: ServerSpec, config: LoadedConfig): string[] {
  const { name } = added;
  const used = config.servers.find((spec) => spec.name === name);
  const hidden = config.shadowed.filter((spec) => spec.name === name);
  const waiting = waitingFor(name, config);
  const scopes = hidden.map((spec) => `${spec.scope} scope`);
  const isHidden = used !== undefined && used !== added;
  return [
    ...(isHidden
      ? [`${name} in ${used.scope} scope (${used.file}) has precedence and is still used here.`]
      : hidden.length > 0
        ? [`it is used here instead of ${name} in ${scopes.join(' and ')}.`]
        : []),
    ...(waiting === undefined ? [] : [sentences(waiting.error.message, waiting.error.hint)]),
  ];
}
