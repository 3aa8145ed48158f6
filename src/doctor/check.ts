/** What the doctor looks at and what it says: one finding a check, with the one thing to do where something is wrong. */

import type { Tool } from '../catalog/tool.ts';
import type { ServerEntry, ServerSpec } from '../config/entry.ts';
import { expandEntry } from '../config/expand.ts';
import type { Home } from '../config/home.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { ServerReport } from '../host-report.ts';
import type { Finding } from '../policy/scan.ts';

export interface Check {
  /** What was looked at; the same in every version. */
  readonly id: CheckId;
  readonly server?: string;
  readonly ok: boolean;
  /** Of what is not ok: whether something does not work, or could be better. */
  readonly level?: 'error' | 'advice';
  readonly message: string;
  readonly hint?: string;
}

export type CheckId =
  | 'node'
  | 'config'
  | 'home'
  | 'keyring'
  | 'network'
  | 'daemon'
  | 'leftovers'
  | 'admission'
  | 'command'
  | 'version'
  | 'connect'
  | 'speed'
  | 'tools'
  | 'names'
  | 'scan'
  | 'duplicate';

/** Everything that was found out before anybody judges it. */
export interface Patient {
  readonly config: LoadedConfig;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  /** How each server came up; those that may not be started were not. */
  readonly reports: ReadonlyMap<string, ServerReport>;
  readonly tools: readonly Tool[];
  /** What the scan says of each server's tools. */
  readonly findings: ReadonlyMap<string, readonly Finding[]>;
}

/** One server on the couch. */
export interface ServerCase {
  readonly spec: ServerSpec;
  /** With its variables filled in; undefined when one is missing. */
  readonly entry: ServerEntry | undefined;
  readonly report: ServerReport;
  readonly tools: readonly Tool[];
  readonly findings: readonly Finding[];
  readonly patient: Patient;
}

export function caseOf(spec: ServerSpec, patient: Patient): ServerCase | undefined {
  const report = patient.reports.get(spec.name);
  if (report === undefined) return undefined;
  const tools = patient.tools.filter(({ server }) => server === spec.name);
  const findings = patient.findings.get(spec.name) ?? [];
  return { spec, entry: filledIn(spec, patient.env), report, tools, findings, patient };
}

function filledIn(spec: ServerSpec, env: NodeJS.ProcessEnv): ServerEntry | undefined {
  try {
    return expandEntry(spec, env);
  } catch {
    return undefined; // The failed connect says which variable it is.
  }
}

export function plural(count: number, word: string): string {
  if (count === 1) return `1 ${word}`;
  return `${count} ${word}${word.endsWith('s') ? 'es' : 's'}`;
}
