/** Imports servers from the agents on this machine: shows them first, adds the chosen ones, and changes no agent. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useApp } from '../app.ts';
import { plural } from '../text.ts';
import { ErrorCallout, Tag } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';

interface FoundAgent {
  readonly id: string;
  readonly title: string;
  readonly isInstalled: boolean;
  readonly isConnected: boolean;
  readonly files?: readonly string[];
  readonly servers: readonly { readonly name: string; readonly action: string; readonly reason?: string }[];
  readonly importable: number;
}

/** Identifies a server of an agent. */
const keyOf = (agent: string, name: string): string => JSON.stringify([agent, name]);

export function ImportAgents(): JSX.Element | null {
  const { api, store, notices, router } = useApp();
  const agents = useSignal<readonly FoundAgent[] | undefined>(undefined);
  const left = useSignal<ReadonlySet<string>>(new Set());
  const error = useSignal<unknown>(undefined);
  const load = (): Promise<void> =>
    api.get<{ agents: readonly FoundAgent[] }>('/api/agents').then(
      (answer) => {
        agents.value = answer.agents;
      },
      (failure) => {
        error.value = failure;
      },
    );
  useEffect(() => void load(), [store.serversVersion.value]);
  const found = (agents.value ?? []).filter(({ isInstalled, servers }) => isInstalled || servers.length > 0);
  const chosen = found.flatMap((agent) =>
    agent.servers
      .filter(({ name, action }) => action === 'add' && !left.value.has(keyOf(agent.id, name)))
      .map(({ name }) => ({ agent: agent.id, name })),
  );
  const hasImportable = found.some(({ servers }) => servers.some(({ action }) => action === 'add'));
  const take = async (): Promise<void> => {
    error.value = undefined;
    try {
      await api.send('POST', '/api/import', { servers: chosen, dryRun: false });
      notices.add(`${plural(chosen.length, 'server')} imported.`, { kind: 'good' });
      await store.reloadAfterAction();
      router.go(['servers']);
    } catch (failure) {
      error.value = failure;
    }
  };
  if (agents.value === undefined) return <ErrorCallout error={error.value} />;
  return (
    <section class="card wide import">
      <h2>Agents on this machine</h2>
      <p class="hint">
        Import their servers to run and approve them in one place. Nothing is changed in the files of an
        agent.
      </p>
      {found.length === 0 && <p class="none">No agent with servers was found on this machine.</p>}
      {found.map((agent) => (
        <div key={agent.id} class="import-agent">
          <p>
            <strong>{agent.title}</strong> {agent.isConnected && <Tag tone="good">uses Plugboard</Tag>}{' '}
            <span class="hint">
              {agent.servers.length === 0 ? 'no servers' : plural(agent.servers.length, 'server')}
            </span>
          </p>
          <ul class="lines">
            {agent.servers.map(({ name, action, reason }) => (
              <li key={name}>
                <label class="choice">
                  <input
                    type="checkbox"
                    disabled={action !== 'add'}
                    checked={action === 'add' && !left.value.has(keyOf(agent.id, name))}
                    onChange={(event) => {
                      const next = new Set(left.value);
                      if (event.currentTarget.checked) next.delete(keyOf(agent.id, name));
                      else next.add(keyOf(agent.id, name));
                      left.value = next;
                    }}
                  />
                  <span>{name}</span>
                  {action !== 'add' && <span class="hint">{reason ?? action}</span>}
                </label>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <div role="alert">
        <ErrorCallout error={error.value} />
      </div>
      {hasImportable && (
        <div class="actions">
          <Button kind="primary" disabled={chosen.length === 0} onPress={take}>
            {chosen.length === 0 ? 'Nothing selected' : `Import ${plural(chosen.length, 'server')}`}
          </Button>
        </div>
      )}
    </section>
  );
}
