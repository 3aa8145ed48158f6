/** Parses the `sandbox` value of an entry into limits, or rejects it (POL-6). */

import { isStdio, type Sandbox, type SandboxLimits, type ServerEntry } from '../config/entry.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';

/** The limits of a process, with defaults applied. */
export interface SandboxRules {
  readonly filesystem: NonNullable<SandboxLimits['filesystem']>;
  readonly network: boolean;
}

const STRICT: SandboxRules = { filesystem: 'read-only', network: false };

/** Returns undefined if no sandbox is requested. Rejects an invalid value; never ignores it. */
export function sandboxOf(value: unknown): SandboxRules | undefined {
  if (value === undefined || value === null || value === false || value === 'off' || value === 'none') {
    return undefined;
  }
  if (value === true || value === 'strict') return STRICT;
  if (!isRecord(value)) throw misunderstood('it must be "strict" or an object');
  const { enabled, filesystem, network, ...unknown } = value;
  const [stranger] = Object.keys(unknown).filter((key) => !key.startsWith('x-'));
  if (stranger !== undefined) throw misunderstood(`${JSON.stringify(stranger)} is not known`);
  if (enabled === false) return undefined;
  return { filesystem: filesystemOf(filesystem), network: networkOf(network) };
}

/** Applies the host's sandbox: a host may confine its processes more than their entries, not less. */
export function confined(entry: ServerEntry, sandbox: Sandbox | undefined): ServerEntry {
  return sandbox === undefined || !isStdio(entry) ? entry : { ...entry, sandbox };
}

function filesystemOf(value: unknown): SandboxRules['filesystem'] {
  if (value === undefined || value === 'read-only') return 'read-only';
  if (value === 'project' || value === 'all') return value;
  if (isRecord(value) && Object.entries(value).every(([key, paths]) => isPaths(key, paths))) return value;
  throw misunderstood(
    '"filesystem" must be "read-only", "project", "all" or { "read": [paths], "write": [paths] }',
  );
}

function isPaths(key: string, paths: unknown): boolean {
  const isKnown = key === 'read' || key === 'write';
  return isKnown && Array.isArray(paths) && paths.every((path) => typeof path === 'string' && path !== '');
}

function networkOf(value: unknown): boolean {
  if (value === undefined || value === 'none' || value === false) return false;
  if (value === 'full' || value === true) return true;
  throw misunderstood('"network" must be "none" or "full"');
}

function misunderstood(why: string): PlugboardError {
  return new PlugboardError('CONFIG_INVALID', `Its "sandbox" cannot be understood: ${why}`, {
    hint: 'Write "strict", or { "filesystem": "read-only" | "project" | { "read": [...], "write": [...] }, "network": "none" | "full" }.',
    detail: { permanent: true },
  });
}
