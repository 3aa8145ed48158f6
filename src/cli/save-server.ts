/** Writing one new entry: checked first, then written, and trusted where a person's own hands put it into a project. */

import { type EditableScope, editTarget, setServer } from '../config/edit.ts';
import type { ServerSpec } from '../config/entry.ts';
import { findProjectRoot } from '../config/home.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { checkNewEntry, expandedSpec, takeClientSecret } from '../config/new-entry.ts';
import { withAbsolutePaths } from '../config/relative-paths.ts';
import { findProgram, withoutProject } from '../lib/find-program.ts';
import { clean } from '../policy/clean.ts';
import { withConsent } from '../policy/effective.ts';
import { needsConsent } from '../policy/needs-consent.ts';
import { scanEntry } from '../policy/scan-entry.ts';
import { waitingFor } from '../policy/waiting.ts';
import { serverDocument, trustVerdicts } from './config-report.ts';
import { consentStore } from './consent-store.ts';
import { keepClientSecret } from './credentials.ts';
import { entryPairs, pairLines } from './entry-lines.ts';
import { SCOPE_MEANING } from './scope-flag.ts';
import type { Context } from './verb.ts';
import { joinWords } from './words.ts';

export interface NewServer {
  readonly name: string;
  readonly raw: Record<string, unknown>;
  readonly scope: EditableScope;
  /** An existing entry of that name in that scope is replaced. */
  readonly replace: boolean;
}

export async function saveServer(context: Context, server: NewServer): Promise<number> {
  const { name, scope, replace } = server;
  const { home, output } = context;
  noteFaults(server, context);
  const { raw: given, secret } = takeClientSecret(server.raw);
  // A project's file is shared; its servers start in the project.
  const { raw, changes } = scope === 'project' ? { raw: given, changes: [] } : ownEntry(given, context);
  const { projectRoot } = await loadConfig({ cwd: context.cwd, home });
  const target = editTarget(scope, { home, projectRoot });
  // Kept under the address that a login will see; found out before anything is written.
  const place = { scope, file: target.file, baseDir: projectRoot };
  const expanded = secret === undefined ? undefined : expandedSpec(name, raw, place, context.env);
  await setServer(target, name, raw, { home, replace, signal: context.signal });

  const config = await loadConfig({ cwd: context.cwd, home });
  const all = [...config.servers, ...config.shadowed].filter((spec) => spec.name === name);
  const added = all.find((spec) => spec.scope === scope && spec.file === target.file);
  if (added === undefined) throw new Error(`the entry for ${name} was written but is not in ${target.file}`);
  if (needsConsent(added)) await (await consentStore(context)).grant([added]);
  const keptIn =
    secret === undefined || expanded === undefined
      ? undefined
      : await keepClientSecret(context, expanded, secret);

  const verdicts = await trustVerdicts([added], context);
  const authority = { managed: config.managed, env: context.env };
  output.answer(serverDocument(added, verdicts, authority), () =>
    [
      `${output.paint.good('Added')} ${name} (${scope} scope: ${SCOPE_MEANING[scope]}) to ${target.file}`,
      ...pairLines(entryPairs(added)),
      ...(keptIn === undefined
        ? []
        : [`The client's secret is kept in ${keptIn === 'file' ? home.credentials : 'the keyring'}.`]),
      ...(needsConsent(added) ? ['Approved on this machine, because you added it yourself.'] : []),
      output.paint.faint(
        `Not started yet. Run ${joinWords(['plugboard', 'test', name])} to connect and check its tools.`,
      ),
    ].join('\n'),
  );
  for (const { from, to } of changes) {
    const isHere = from === '.' && scope === 'user';
    const instead = isHere ? "; '${PROJECT_DIR}' would be the project that you are in at the time" : '';
    output.note(`${output.notePaint.warn('note:')} ${clean(from)} is stored as ${clean(to)}${instead}.`);
  }
  noteShadowing(added, await withConsent(config, { home, env: context.env }), context);
  for (const note of scanEntry(added, config.servers)) {
    output.note(`${output.notePaint.warn('note:')} ${clean(note, { multiline: false })}`);
  }
  return 0;
}

/**
 * An entry of the person's own, which does not start in this folder: with absolute paths, and the path of a program
 * that only a search path into this project finds.
 */
function ownEntry(
  given: Record<string, unknown>,
  { cwd, env }: Context,
): ReturnType<typeof withAbsolutePaths> {
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

function noteFaults({ name, raw, scope }: NewServer, { output }: Context): void {
  for (const problem of checkNewEntry(name, raw, scope)) {
    // The entry may have been pasted from anywhere, and its keys are quoted here.
    const text = clean(`${problem.message} ${problem.hint ?? ''}`, { multiline: false });
    output.note(`${output.notePaint.warn('note:')} ${text}`);
  }
}

/** The strongest approved entry wins whole, so a new entry may be hidden at once, or hide another. */
function noteShadowing(added: ServerSpec, config: LoadedConfig, { output }: Context): void {
  const { name } = added;
  const used = config.servers.find((spec) => spec.name === name);
  const hidden = config.shadowed.filter((spec) => spec.name === name);
  const waiting = waitingFor(name, config);
  const warn = output.notePaint.warn('note:');
  if (used !== undefined && used !== added) {
    output.note(`${warn} ${name} of ${used.scope} scope (${used.file}) is stronger and stays in use here.`);
  } else if (hidden.length > 0) {
    const scopes = hidden.map((spec) => `${spec.scope} scope`);
    output.note(`${warn} it is used here in place of ${name} of ${scopes.join(' and ')}.`);
  }
  if (waiting === undefined) return;
  const { message, hint } = waiting.error;
  output.note(`${warn} ${clean(`${message}. ${hint}`, { multiline: false })}`);
}
