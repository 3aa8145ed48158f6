/** Reports the state of servers from their configuration alone, without starting or contacting them. */

import { knownCount } from '../catalog/known-tools.ts';
import { describeEntry, transportOf } from '../config/describe.ts';
import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import type { LoadedConfig } from '../config/load.ts';
import { switchedOffBy } from '../config/switches.ts';
import type { PlugboardError } from '../errors.ts';
import type { ServerReport } from '../host/host-report.ts';
import { type Authority, admit } from '../policy/admit.ts';
import { waitingFor } from '../policy/consent-terms.ts';
import { needsConsent } from '../policy/needs-consent.ts';
import type { Trust, TrustDecision } from '../policy/trust.ts';
import type { Context } from './cli-command.ts';

type TrustDecisions = ReadonlyMap<string, TrustDecision>;

/** Returns verdicts for the servers that need approval. The store and its hashing are loaded only if there are any. */
export async function trustDecisions(
  specs: readonly ServerSpec[],
  context: Context,
): Promise<TrustDecisions> {
  const asked = specs.filter(needsConsent);
  if (asked.length === 0) return new Map();
  return (await consentStore(context)).verdicts(asked);
}

/** `tools`: number of tools at the last connection; 0 for a server that may not run. */
export function configuredReport(
  spec: ServerSpec,
  verdicts: TrustDecisions,
  {
    authority,
    home,
    config,
  }: { readonly authority: Authority; readonly home: Home; readonly config: LoadedConfig },
): ServerReport {
  const waiting = waitingFor(spec.name, config);
  const admission = admit(spec, verdicts.get(spec.name), authority);
  return {
    name: spec.name,
    scope: spec.scope,
    transport: transportOf(spec.entry),
    status: admission.status,
    ...offBy(admission.status === 'disabled' ? switchedOffBy(spec) : undefined),
    ...('error' in admission ? { error: errorDocument(admission.error) } : {}),
    tools: admission.status === 'idle' ? knownCount(home, spec) : 0,
    ...(waiting === undefined ? {} : { waiting }),
  };
}

function offBy(disabledBy: ServerReport['disabledBy'] | undefined): Pick<ServerReport, 'disabledBy'> {
  return disabledBy === undefined ? {} : { disabledBy };
}

/** Returns an error as part of a JSON document. */
export function errorDocument({ code, message, hint }: PlugboardError): NonNullable<ServerReport['error']> {
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}

/** Returns one server as `get`, `add` and similar commands print it with `--json`. */
export function serverDocument(
  spec: ServerSpec,
  verdicts: TrustDecisions,
  authority: Authority,
): Record<string, unknown> {
  const admission = admit(spec, verdicts.get(spec.name), authority);
  return {
    name: spec.name,
    scope: spec.scope,
    ...(spec.file === undefined ? {} : { file: spec.file }),
    entry: describeEntry(spec),
    status: admission.status,
    ...(admission.status === 'disabled' ? { disabledBy: switchedOffBy(spec) } : {}),
  };
}

/** Opens the store of approvals, loaded on demand because it hashes files of the project. */
export async function consentStore({ home, env }: Pick<Context, 'home' | 'env'>): Promise<Trust> {
  const { openTrust } = await import('../policy/trust.ts');
  return openTrust({ home, env });
}
