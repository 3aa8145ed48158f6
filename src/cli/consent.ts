/** Approval of servers from projects and plugins: shows the whole entry, asks, and records the answer (POL-2, A13). */

import type { ServerSpec } from '../config/entry.ts';
import type { LoadedConfig } from '../config/load.ts';
import { isForeign, supplierOf } from '../config/scopes.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord } from '../lib/json.ts';
import { reveal } from '../policy/clean.ts';
import { consentTerms, replacedBy, shownInputs } from '../policy/consent-terms.ts';
import { folderInVariable, runsInProject } from '../policy/needs-consent.ts';
import type { TrustDecision } from '../policy/trust.ts';
import { WORKSPACE_NAME } from '../workspace/workspace-entry.ts';
import { confirm } from './ask.ts';
import type { Context } from './cli-command.ts';
import { consentStore } from './config-report.ts';
import { lockLine, type Pair, pairLines, presentPairs, recordPairs } from './entry-lines.ts';

/** Shows everything that determines what would run; invisible characters are written as escapes. */
export function describeForConsent(
  spec: ServerSpec,
  verdict: TrustDecision | undefined,
  replaced: string | undefined,
): string {
  const folder = runsInProject(spec) ? [['runs in', folderText(spec)] as const] : [];
  const from = spec.file === undefined ? [] : [['from', reveal(spec.file)] as const];
  const changes = (verdict?.changes ?? []).map(({ path, before, after }) =>
    isHash(before) && isHash(after)
      ? `    ${reveal(path)}: ${path === 'lock.digest' ? 'the locked packages have changed' : 'the content of this file has changed'}`
      : `    ${reveal(path)}: ${shown(before)} → ${shown(after)}`,
  );
  return [
    ...pairLines([...recordPairs(spec.raw), ...inputPairs(spec), ...lockPairs(spec), ...folder, ...from]),
    ...(changes.length === 0 ? [] : ['  changed since it was approved:', ...changes]),
    ...(replaced === undefined ? [] : [`  This replaces ${reveal(replaced)}.`]),
    `  ${consentTerms(spec)}`,
  ].join('\n');
}

/** The folder that a server of the user runs in, with the project if that is not certain. */
function folderText(spec: ServerSpec): string {
  const folder = folderInVariable(spec);
  if (folder === undefined) return reveal(spec.baseDir);
  return `${reveal(folder)}, which may be in ${reveal(spec.baseDir)}`;
}

/** The locked packages of a project's or plugin's entry: the approval is for them too. */
function lockPairs(spec: ServerSpec): Pair[] {
  return isForeign(spec) ? presentPairs([['locked', lockLine(spec)]]) : [];
}

/** True for the hash of a file that the entry starts; showing an old and a new hash does not help a person. */
function isHash(value: unknown): boolean {
  return typeof value === 'string' && /^(?:sha256[:-])?[0-9a-f]{64}$/i.test(value);
}

/** Returns the inputs that the entry refers to: their defaults and options affect what runs. */
function inputPairs(spec: ServerSpec): Pair[] {
  return Object.entries(shownInputs(spec) ?? {}).map(([id, question], at) => [
    at === 0 ? 'inputs' : '',
    `${reveal(id)}: ${questionText(question)}`,
  ]);
}

/** Describes an input with all its settings. */
function questionText(question: unknown): string {
  const { password, description, options, default: fallback, ...rest } = isRecord(question) ? question : {};
  return [
    password === true ? 'asked for, hidden while typed' : 'asked for',
    ...(description === undefined ? [] : [`"${reveal(String(description))}"`]),
    ...(options === undefined ? [] : [`one of ${reveal(canonicalJson(options))}`]),
    ...(fallback === undefined ? [] : [`default ${reveal(canonicalJson(fallback))}`]),
    ...Object.entries(rest).map(([key, value]) => `${reveal(key)} ${reveal(canonicalJson(value))}`),
  ].join(', ');
}

/** Returns the server that the entry replaces once it is approved: the person's own, or the built-in one. */
export function replacedServer(spec: ServerSpec, config: LoadedConfig): string | undefined {
  if (!isForeign(spec)) return undefined;
  const isBuiltIn = spec.name === WORKSPACE_NAME && config.settings.workspace !== false;
  return replacedBy(spec, config) ?? (isBuiltIn ? `the built-in ${WORKSPACE_NAME}` : undefined);
}

function shown(value: unknown): string {
  return value === undefined ? '(nothing)' : reveal(canonicalJson(value));
}

function originOf(spec: ServerSpec): string {
  if (spec.entry.unapproved === true) return 'was added over the management API';
  if (runsInProject(spec))
    return `is your own server and ${folderInVariable(spec) === undefined ? 'runs' : 'may run'} in this folder`;
  return supplierOf(spec) === 'plugin' ? 'comes with a plugin' : 'comes with this project';
}

/** Shows the server and asks; a yes is recorded before any part of it may run. */
export async function askForTrust(
  context: Context,
  spec: ServerSpec,
  verdict: TrustDecision | undefined,
  replaced?: string,
): Promise<boolean> {
  const { output } = context;
  const why = verdict?.state === 'changed' ? 'has changed since you approved it' : originOf(spec);
  output.note(
    `${output.notePaint.strong(reveal(spec.name))} ${why}:\n${describeForConsent(spec, verdict, replaced)}`,
  );
  const question = runsInProject(spec)
    ? `Let ${reveal(spec.name)} run in ${folderText(spec)}, with the code that is there?`
    : `Approve ${reveal(spec.name)} and let it run on this machine?`;
  if (!(await confirm(context, question))) return false;
  await (await consentStore(context)).grant([spec]);
  return true;
}
