/** Decides before anything runs whether a server may be started or contacted, and whether its failure is fatal. Pure. */

import type { ServerSpec } from '../config/entry.ts';
import type { Environment } from '../config/expand.ts';
import type { Managed } from '../config/managed.ts';
import { isForeign } from '../config/scopes.ts';
import { PlugboardError } from '../errors.ts';
import { shellWord } from '../lib/shell-word.ts';
import { blockingRule } from './managed-rules.ts';
import { folderInVariable, isUnapproved, needsConsent, runsInProject } from './needs-consent.ts';
import type { TrustDecision } from './trust.ts';

type Admission =
  | { readonly status: 'idle' }
  | { readonly status: 'disabled' }
  | { readonly status: 'blocked'; readonly error: PlugboardError }
  | { readonly status: 'untrusted'; readonly error: PlugboardError };

/** Managed rules and the environment; the same for every server. */
export interface Authority {
  readonly managed: Managed;
  readonly env: Environment;
}

export function admit(spec: ServerSpec, trust: TrustDecision | undefined, authority: Authority): Admission {
  // Checked first: a denial applies even if the server is enabled, disabled or approved elsewhere.
  const rule = blockingRule(spec, authority.managed, authority.env);
  if (rule !== undefined) return { status: 'blocked', error: blocked(spec, rule) };
  if (spec.entry.enabled === false) return { status: 'disabled' };
  if (!needsConsent(spec)) return { status: 'idle' };
  if (isUnapproved(spec)) return { status: 'untrusted', error: unapproved(spec) };
  // A missing verdict means not approved.
  const state = trust?.state ?? 'unknown';
  if (state === 'trusted') return { status: 'idle' };
  return {
    status: 'untrusted',
    error: new PlugboardError('UNTRUSTED', whyUntrusted(spec, state), {
      server: spec.name,
      hint: {
        commands: `Review and approve it: plugboard trust ${shellWord(spec.name)}`,
        library: trustInLibrary(spec.name),
      },
    }),
  };
}

/** Hint for library users: approval needs a terminal; entries in code need none. */
export function trustInLibrary(name: string): string {
  return `The person can approve it with the plugboard command (plugboard trust ${shellWord(name)}); a server that the program itself needs is given in "servers" of createHost.`;
}

function whyUntrusted(spec: ServerSpec, state: TrustDecision['state']): string {
  const { name, file, baseDir } = spec;
  if (runsInProject(spec)) {
    const since = state === 'changed' ? ' since its entry changed' : '';
    const folder = folderInVariable(spec);
    if (folder !== undefined)
      return `${name} starts in ${JSON.stringify(folder)}, which may be in ${baseDir}; you have not approved it there${since}`;
    return `${name} would run code of ${baseDir}, which you have not approved for it${since}`;
  }
  const why =
    state === 'changed' ? 'has changed since you approved it' : 'has not been approved on this machine';
  return `${name} is defined in ${file ?? 'the project'} and ${why}`;
}

/** Shields a project's entry if only listed commands may run: its settings must not make a launcher run other code. */
export function shieldedByRule(spec: ServerSpec, { managed }: Authority): ServerSpec {
  return managed.allowed === undefined || !isForeign(spec) ? spec : { ...spec, shielded: true };
}

function unapproved({ name }: ServerSpec): PlugboardError {
  return new PlugboardError(
    'UNTRUSTED',
    `${name} was added over the management API and has not been approved on this machine`,
    {
      server: name,
      hint: {
        commands: `Review and approve it on the page, or run: plugboard trust ${shellWord(name)}`,
        library: `Show its entry to the person (host.describe(${JSON.stringify(name)})), and call host.approve(${JSON.stringify(name)}, digest).`,
      },
    },
  );
}

function blocked({ name }: ServerSpec, rule: string): PlugboardError {
  return new PlugboardError('BLOCKED_BY_POLICY', `${name} is blocked: ${rule}`, {
    server: name,
    hint: 'Only the administrator of this machine can change that.',
  });
}

/** True for an entry with `required`; in a project's or plugin's entry without approval it has no effect (A32). */
export function isRequired(spec: ServerSpec, status: string | undefined): boolean {
  return spec.entry.required === true && !(status === 'untrusted' && isForeign(spec));
}
