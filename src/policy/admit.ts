/** Decides, before anything runs, whether a server may be started or contacted at all. Pure. */

import type { ServerSpec } from '../config/entry.ts';
import { PlugboardError } from '../errors.ts';
import type { TrustVerdict } from './trust.ts';

export type Admission =
  | { readonly status: 'idle' }
  | { readonly status: 'disabled' }
  | { readonly status: 'untrusted'; readonly error: PlugboardError };

export function admit(spec: ServerSpec, trust: TrustVerdict | undefined): Admission {
  if (spec.entry.enabled === false) return { status: 'disabled' };
  if (spec.scope !== 'project' && spec.scope !== 'plugin') return { status: 'idle' };
  // No verdict is no consent.
  const state = trust?.state ?? 'unknown';
  if (state === 'trusted') return { status: 'idle' };
  const why =
    state === 'changed' ? 'it changed since you agreed to it' : 'nobody has agreed to it on this machine';
  return {
    status: 'untrusted',
    error: new PlugboardError(
      'UNTRUSTED',
      `${spec.name} comes from ${spec.file ?? 'the project'} and ${why}`,
      {
        server: spec.name,
        hint: `Look at it and agree with: plugboard trust ${quote(spec.name)}`,
      },
    ),
  };
}

function quote(name: string): string {
  return /^[\w@.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}
