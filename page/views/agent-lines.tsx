/** Connected agents, one line each: name, folder, and the call that each makes now, or made last. */

import type { JSX } from 'preact';
import type { CallReport, ConnectedClient } from '../api-types.ts';
import { useApp } from '../app.ts';
import { keyOf } from '../call-log.ts';
import { agentText, callStateOf, progressOf, shareOf } from '../call-state.ts';
import type { Store } from '../store.ts';
import { clockTime, duration, folderName } from '../text.ts';
import { Dot } from '../ui/bits.tsx';
import { useNow } from '../ui/now.ts';
import { PlaceLink } from '../ui/place-link.tsx';

const TICK_MS = 1_000;

export function AgentLines({ clients }: { readonly clients: readonly ConnectedClient[] }): JSX.Element {
  const { store } = useApp();
  void store.calls.version.value;
  return (
    <ul class="agents">
      {clients.map((client) => (
        <li key={client.session}>
          <AgentLine client={client} call={callOf(store, client)} />
        </li>
      ))}
    </ul>
  );
}

/** Returns the oldest running call of a session, else its last one. */
function callOf({ calls }: Store, { session, agent, folder }: ConnectedClient): CallReport | undefined {
  for (const call of calls.runningCalls) if (call.session === session) return call;
  const last = calls.lastOfSessions.get(session);
  // A session of an earlier run may have had the same id.
  return last?.agent?.name === agent?.name && last?.folder === folder ? last : undefined;
}

interface AgentLineProps {
  readonly client: ConnectedClient;
  readonly call: CallReport | undefined;
}

function AgentLine({ client, call }: AgentLineProps): JSX.Element {
  const { store } = useApp();
  const { agent, client: name, session, folder, profile } = client;
  const state = call === undefined ? undefined : callStateOf(store, call);
  const isRunning = call !== undefined && call.outcome === undefined;
  return (
    <div class="agent-line" data-busy={String(isRunning)}>
      <Dot tone={isRunning ? (state?.tone ?? 'busy') : 'good'} />
      <span class="agent-name">
        <strong>{agent === undefined ? (name ?? `session ${session}`) : agentText(agent)}</strong>{' '}
        <span class="agent-place" title={folder}>
          {[folder === undefined ? undefined : folderName(folder), profile].filter(Boolean).join(' · ')}
        </span>
      </span>{' '}
      {call === undefined ? <span class="agent-idle">no calls yet</span> : <AgentCall call={call} />}
    </div>
  );
}

/** A call of an agent, as a link to its details or, if it waits for a person, to the question. */
function AgentCall({ call }: { readonly call: CallReport }): JSX.Element {
  const { store } = useApp();
  const isRunning = call.outcome === undefined;
  const now = useNow(isRunning ? TICK_MS : 0);
  const { tone, label } = callStateOf(store, call);
  const isWaiting = isRunning && store.waitingCalls.value.has(call.id);
  const share = shareOf(call);
  return (
    <PlaceLink class="agent-call" to={isWaiting ? ['questions'] : ['calls', keyOf(call)]}>
      <span class="agent-tool">
        {!isRunning && <span class="agent-last">last: </span>}
        <strong>{call.tool}</strong> <span>{call.server}</span>
      </span>
      {isRunning && !isWaiting && (
        <span class={share === undefined ? 'bar unknown' : 'bar'} data-tone={tone} aria-hidden="true">
          <span style={{ width: `${((share ?? 0.3) * 100).toFixed(1)}%` }} />
        </span>
      )}
      <span class="agent-state" data-tone={tone}>
        {isRunning
          ? [isWaiting ? label : progressOf(call), secondsSince(call.at, now)].filter(Boolean).join(' · ')
          : `${label}, ${duration(call.ms)} · ${clockTime(call.at)}`}
      </span>
    </PlaceLink>
  );
}

function secondsSince(at: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - at) / 1_000));
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1_000);
}
