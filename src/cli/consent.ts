/** Consent to servers that a project brings along: shown whole, asked about, recorded (POL-2, A13). */

import type { ServerSpec } from '../config/entry.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { reveal } from '../policy/clean.ts';
import { runsInProject } from '../policy/needs-consent.ts';
import { openTrust, type TrustVerdict } from '../policy/trust.ts';
import { confirm } from './ask.ts';
import { pairLines, recordPairs } from './entry-lines.ts';
import type { Context } from './verb.ts';

/** Everything that decides what would run, nothing hidden: what cannot be seen is written out. */
export function describeForConsent(spec: ServerSpec, verdict: TrustVerdict | undefined): string {
  const from = spec.file === undefined ? [] : [['from', reveal(spec.file)] as const];
  const changes = (verdict?.changes ?? []).map(
    ({ path, before, after }) => `    ${reveal(path)}: ${shown(before)} → ${shown(after)}`,
  );
  return [
    ...pairLines([...recordPairs(spec.raw), ...from]),
    ...(changes.length === 0 ? [] : ['  changed since it was trusted:', ...changes]),
  ].join('\n');
}

function shown(value: unknown): string {
  return value === undefined ? '(nothing)' : reveal(canonicalJson(value));
}

function originOf(spec: ServerSpec): string {
  if (spec.entry.unapproved === true) return 'was added over the management API';
  if (runsInProject(spec)) return 'is your own server and runs in this folder';
  return spec.scope === 'plugin' ? 'comes with a plugin' : 'comes with this project';
}

/** Shows the server and asks; a yes is recorded before anything of it may run. */
export async function askForTrust(
  context: Context,
  spec: ServerSpec,
  verdict: TrustVerdict | undefined,
): Promise<boolean> {
  const { output } = context;
  const why = verdict?.state === 'changed' ? 'has changed since you trusted it' : originOf(spec);
  output.note(`${output.notePaint.strong(reveal(spec.name))} ${why}:\n${describeForConsent(spec, verdict)}`);
  const question = runsInProject(spec)
    ? `Let ${reveal(spec.name)} run in ${reveal(spec.baseDir)}, with the code that is there?`
    : `Trust ${reveal(spec.name)} and let it run on this machine?`;
  if (!(await confirm(context, question))) return false;
  await openTrust({ home: context.home, env: context.env }).grant([spec]);
  return true;
}
