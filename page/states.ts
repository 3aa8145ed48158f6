/** Tone, label and group of each server state, and of each outcome of a call. */

export type Tone = 'good' | 'busy' | 'calm' | 'warn' | 'bad';

export type Status =
  | 'connected'
  | 'connecting'
  | 'idle'
  | 'disconnected'
  | 'disabled'
  | 'needs_auth'
  | 'needs_client_registration'
  | 'untrusted'
  | 'blocked'
  | 'failed';

export interface Shown {
  readonly tone: Tone;
  readonly label: string;
}

const STATUSES: Readonly<Record<string, Shown>> = {
  connected: { tone: 'good', label: 'connected' },
  connecting: { tone: 'busy', label: 'connecting' },
  idle: { tone: 'calm', label: 'idle' },
  disconnected: { tone: 'calm', label: 'disconnected' },
  disabled: { tone: 'calm', label: 'disabled' },
  needs_auth: { tone: 'warn', label: 'needs a login' },
  needs_client_registration: { tone: 'warn', label: 'needs a registration' },
  untrusted: { tone: 'warn', label: 'not approved' },
  blocked: { tone: 'bad', label: 'blocked' },
  failed: { tone: 'bad', label: 'failed' },
};

const OUTCOMES: Readonly<Record<string, Shown>> = {
  ok: { tone: 'good', label: 'ok' },
  'tool-error': { tone: 'warn', label: 'tool error' },
  error: { tone: 'bad', label: 'error' },
  denied: { tone: 'bad', label: 'denied' },
  cancelled: { tone: 'calm', label: 'cancelled' },
  timeout: { tone: 'bad', label: 'timeout' },
};

export function statusOf(status: string): Shown {
  return STATUSES[status] ?? { tone: 'calm', label: status };
}

/** A call without an outcome is running. */
export function outcomeOf(outcome: string | undefined): Shown {
  if (outcome === undefined) return { tone: 'busy', label: 'running' };
  return OUTCOMES[outcome] ?? { tone: 'calm', label: outcome };
}

export const GROUPS = ['needs', 'running', 'idle', 'off'] as const;
export type Group = (typeof GROUPS)[number];

export const GROUP_LABELS: Readonly<Record<Group, string>> = {
  needs: 'Needs you',
  running: 'Running',
  idle: 'Idle, started by the first call',
  off: 'Off',
};

/** Returns the group in which a server is listed. */
export function groupOf({ status, held = 0 }: { readonly status: string; readonly held?: number }): Group {
  const { tone } = statusOf(status);
  if (tone === 'bad' || tone === 'warn' || held > 0) return 'needs';
  if (status === 'connected' || status === 'connecting') return 'running';
  return status === 'idle' ? 'idle' : 'off';
}
