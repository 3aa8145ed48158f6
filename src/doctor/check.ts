/** Types of the doctor's checks: one result per check, with a hint if something is wrong. */

import type { Tool } from '../catalog/tool.ts';
import type { ServerEntry, ServerSpec } from '../config/entry.ts';
import { expandEntry } from '../config/expand.ts';
import type { Home } from '../config/home.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { ServerReport } from '../host/host-report.ts';
import { attempt } from '../lib/attempt.ts';
import type { Finding } from '../policy/scan.ts';

export interface Check {
  /** Identifies the check; stable across versions. */
  readonly id: CheckId;
  readonly server?: string;
  readonly ok: boolean;
  /** Severity if not ok: something does not work, or could be improved. */
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

/** Everything that the checks examine, collected before they run. */
export interface DoctorContext {
  readonly config: LoadedConfig;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  /** State of each server after its start was tried; servers that may not run were not started. */
  readonly reports: ReadonlyMap<string, ServerReport>;
  readonly tools: readonly Tool[];
  /** Findings of the scan for each server's tools. */
  readonly findings: ReadonlyMap<string, readonly Finding[]>;
}

/** One server with the data that its checks need. */
export interface CheckedServer {
  readonly spec: ServerSpec;
  /** The entry with its variables expanded; undefined if one is missing. */
  readonly entry: ServerEntry | undefined;
  readonly report: ServerReport;
  readonly tools: readonly Tool[];
  readonly findings: readonly Finding[];
  readonly context: DoctorContext;
}

export function checkedServerOf(spec: ServerSpec, context: DoctorContext): CheckedServer | undefined {
  const report = context.reports.get(spec.name);
  if (report === undefined) return undefined;
  const tools = context.tools.filter(({ server }) => server === spec.name);
  const findings = context.findings.get(spec.name) ?? [];
  return { spec, entry: filledIn(spec, context.env), report, tools, findings, context };
}

function filledIn(spec: ServerSpec, env: NodeJS.ProcessEnv): ServerEntry | undefined {
  // The error of the failed connection names the variable.
  return attempt(() => expandEntry(spec, env), undefined);
}
