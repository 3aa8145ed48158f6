/** The detail of one client: how it is recognised, its sessions, budgets and last calls. */

import type { JSX } from 'preact';
import { apiPath } from '../api.ts';
import type { Budget, CallReport, ClientReport } from '../api-types.ts';
import { useApp } from '../app.ts';
import { keyOf } from '../call-log.ts';
import { callStateOf, madeBy, ownClientOf } from '../call-state.ts';
import type { Store } from '../store.ts';
import { clockTime, count, dayOf, duration } from '../text.ts';
import { Callout, Dot, Facts, Pill } from '../ui/bits.tsx';
import { ConfirmButton } from '../ui/button.tsx';
import { Share } from '../ui/charts.tsx';
import { PlaceLink } from '../ui/place-link.tsx';
import { AgentLines } from './agent-lines.tsx';

const MAX_CALLS_SHOWN = 10;
const MAX_SESSIONS_SHOWN = 50;

export function ClientDetail({ client }: { readonly client: ClientReport }): JSX.Element {
  const { api, store, notices } = useApp();
  const { name, profile, recognisedBy, token, problem, sessions } = client;
  const revoke = async (): Promise<void> => {
    try {
      await api.send('DELETE', apiPath('clients', name, 'token'));
      notices.add(`The token of ${name} is revoked.`);
    } catch (error) {
      notices.showError(error);
    }
    await store.loadClients().catch((error) => notices.showError(error));
  };
  return (
    <article class="client-detail">
      <div class="detail-head">
        <div class="detail-title">
          <h2>{name === '' ? 'Without a name' : name}</h2>
          <Pill
            state={
              sessions > 0 ? { tone: 'good', label: 'connected' } : { tone: 'calm', label: 'not connected' }
            }
          />
        </div>
        {token !== undefined && (
          <div class="actions">
            <ConfirmButton
              kind="quiet"
              label="Revoke token"
              confirmLabel="Really revoke"
              about="ends its sessions"
              onConfirm={revoke}
            />
          </div>
        )}
      </div>
      {problem !== undefined && (
        <Callout kind="bad" hint="Fix config.json: the client is refused until then.">
          {problem}
        </Callout>
      )}
      <Facts
        rows={[
          ['Profile', profile ?? 'none: all servers and tools'],
          ['Recognised by', recognisedBy.length === 0 ? undefined : recognisedBy.join(', ')],
          ['Token created', token === undefined ? undefined : dayOf(token.created)],
          ['Token expires', token?.expires === undefined ? undefined : dayOf(token.expires)],
        ]}
      />
      <section>
        <h3>Connected</h3>
        <Sessions name={name} />
      </section>
      <section>
        <h3>Budgets</h3>
        <Budgets client={client} />
      </section>
      <section>
        <h3>Last calls</h3>
        <LastCalls name={name} />
      </section>
    </article>
  );
}

function Sessions({ name }: { readonly name: string }): JSX.Element {
  const { store } = useApp();
  const own = store.connectedClients.value.filter(({ client = '' }) => client === name);
  return (
    <div class="client-lines">
      {own.length === 0 && <p class="hint">No open session. Clients of 2026-07-28 over HTTP open none.</p>}
      <AgentLines clients={own.slice(0, MAX_SESSIONS_SHOWN)} />
      {own.length > MAX_SESSIONS_SHOWN && <p class="hint">{`${own.length - MAX_SESSIONS_SHOWN} more`}</p>}
    </div>
  );
}

function Budgets({ client }: { readonly client: ClientReport }): JSX.Element {
  const { store } = useApp();
  const all = [
    ...(client.budgets ?? []).map((budget) => ({ budget, about: '' })),
    ...store.sharedBudgets.value.map((budget) => ({ budget, about: ', shared by all clients' })),
  ];
  if (all.length === 0) return <p class="hint">No budgets.</p>;
  return (
    <div class="charts">
      {all.map(({ budget, about }, at) => (
        <BudgetFigure key={at} budget={budget} about={about} />
      ))}
    </div>
  );
}

function BudgetFigure({ budget, about }: { readonly budget: Budget; readonly about: string }): JSX.Element {
  const { calls, resultTokens, per, server, tool, used, resetsInSeconds } = budget;
  const limit = calls ?? resultTokens ?? 0;
  const unit = calls === undefined ? 'result tokens' : 'calls';
  const scope =
    server === undefined && tool === undefined
      ? ''
      : ` of ${[server ?? '*', tool].filter(Boolean).join('/')}`;
  const label = `${count(used)} of ${count(limit)}`;
  return (
    <figure class="budget" data-full={String(used >= limit)}>
      <figcaption>
        <span>{`${unit}${scope} per ${per}${about}`}</span>
        <span>{`${label} · resets in ${timeLeft(resetsInSeconds)}`}</span>
      </figcaption>
      <Share part={Math.min(used, limit)} whole={Math.max(1, limit)} width={480} label={label} />
    </figure>
  );
}

function timeLeft(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function LastCalls({ name }: { readonly name: string }): JSX.Element {
  const { store } = useApp();
  const own = lastCallsOf(store, name);
  const isShared = name === '' || ownClientOf({ client: name }) === undefined;
  return (
    <div class="client-lines">
      {own.length === 0 && <p class="hint">No calls yet.</p>}
      {own.map((call) => {
        const { tone, label } = callStateOf(store, call);
        return (
          <PlaceLink key={keyOf(call)} class="client-line" to={['calls', keyOf(call)]}>
            <span class="client-time">{clockTime(call.at)}</span>
            <Dot tone={tone} />
            <strong>{call.tool}</strong>
            <span class="client-about">
              {[call.server, label, duration(call.ms), isShared ? madeBy(call) : undefined]
                .filter(Boolean)
                .join(' · ')}
            </span>
          </PlaceLink>
        );
      })}
    </div>
  );
}

function lastCallsOf({ calls }: Store, name: string): readonly CallReport[] {
  void calls.version.value;
  const own: CallReport[] = [];
  for (let at = calls.all.length - 1; at >= 0 && own.length < MAX_CALLS_SHOWN; at -= 1) {
    const call = calls.all[at];
    if (call !== undefined && (call.client ?? '') === name) own.push(call);
  }
  return own;
}
