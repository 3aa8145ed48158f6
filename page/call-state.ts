/** What the page says about a call: its state, its progress, and who made it. */

import type { Agent, CallReport } from './api-types.ts';
import { outcomeOf, type Shown } from './states.ts';
import type { Store } from './store.ts';
import { cut, plain } from './text.ts';

const MAX_NAME_CHARS = 80;
const MAX_VERSION_CHARS = 30;
const MAX_MESSAGE_CHARS = 300;

const WAITING: Shown = { tone: 'warn', label: 'waits for you' };

/** Returns the outcome of a call; a running one may wait for an answer of the person. */
export function callStateOf(
  { waitingCalls }: Store,
  { id, outcome }: { readonly id: string; readonly outcome?: string | undefined },
): Shown {
  return outcome === undefined && waitingCalls.value.has(id) ? WAITING : outcomeOf(outcome);
}

/** Returns how far a running call is, as a share or as the number that the server sent; '' if it sent none. */
export function progressOf(call: Pick<CallReport, 'progress'>): string {
  const share = shareOf(call);
  if (share !== undefined) return `${Math.round(share * 100)} %`;
  const { progress } = call.progress ?? {};
  return progress === undefined ? '' : String(progress);
}

/** Returns the done share of a running call, from 0 to 1; undefined if it is unknown. */
export function shareOf({ progress: given }: Pick<CallReport, 'progress'>): number | undefined {
  const { progress = 0, total = 0 } = given ?? {};
  return total > 0 ? Math.min(1, Math.max(0, progress / total)) : undefined;
}

/** Describes a running call with its progress and the server's text about it. */
export function runningText(call: Pick<CallReport, 'progress'> | undefined): string {
  const message = cut(plain(call?.progress?.message), MAX_MESSAGE_CHARS);
  const text = [progressOf(call ?? {}), message].filter((part) => part !== '').join(', ');
  return text === '' ? 'Running …' : `Running … ${text}`;
}

/** The name that local agents share, since they need no token: it distinguishes none. */
const LOCAL_CLIENT = 'local';

interface Made {
  readonly agent?: Agent | undefined;
  readonly client?: string | undefined;
}

/** Names the agent, else the client; undefined if both are unknown. */
export function madeBy({ agent, client }: Made): string | undefined {
  return agent === undefined ? client : cut(plain(agent.name), MAX_NAME_CHARS);
}

/** Returns the name of the client, if it adds to that of its agent. */
export function ownClientOf({ client }: Made): string | undefined {
  return client === LOCAL_CLIENT ? undefined : client;
}

/** Agents choose their name and version themselves. */
export function agentText({ name, version = '' }: Agent): string {
  return `${cut(plain(name), MAX_NAME_CHARS)} ${cut(plain(version), MAX_VERSION_CHARS)}`.trim();
}
