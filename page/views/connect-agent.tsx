/** The dialog that connects an agent: lines to copy, and a named token for agents that connect over HTTP. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { queryOf } from '../api.ts';
import { useApp } from '../app.ts';
import { CopyButton, ErrorCallout, Labelled, Segments } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';

interface ConnectLines {
  readonly agent: string;
  readonly where: string;
  readonly lines: readonly string[];
}

interface NewToken {
  readonly name: string;
  readonly token: string;
  readonly connect: readonly ConnectLines[];
}

const WAYS = [
  ['local', 'on this machine'],
  ['remote', 'over HTTP, with a token'],
] as const;

/** Key of the state whether the dialog is open, for other views that open it. */
export const CONNECTING_KEY = 'clients.connecting';

export function ConnectAgent({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { api, store, notices } = useApp();
  const way = useSignal<'local' | 'remote'>('local');
  const profile = useSignal('');
  const profiles = useSignal<readonly string[]>([]);
  const lines = useSignal<{ local: readonly ConnectLines[] } | undefined>(undefined);
  const name = useSignal('');
  const created = useSignal<NewToken | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  useEffect(() => {
    api.get<{ profiles: readonly { name: string }[] }>('/api/profiles').then(
      (answer) => {
        profiles.value = answer.profiles.map((each) => each.name);
      },
      () => {},
    );
  }, []);
  useEffect(() => {
    api.get<{ local: readonly ConnectLines[] }>(`/api/connect${queryOf({ profile: profile.value })}`).then(
      (answer) => {
        lines.value = answer;
      },
      (failure) => notices.showError(failure),
    );
  }, [profile.value]);
  const create = async (): Promise<void> => {
    error.value = undefined;
    try {
      const body = { name: name.value.trim(), ...(profile.value === '' ? {} : { profile: profile.value }) };
      created.value = await api.send<NewToken>('POST', '/api/tokens', body);
      await store.loadClients();
    } catch (failure) {
      error.value = failure;
      document.getElementById('token-name')?.focus();
    }
  };
  return (
    <Dialog label="Connect an agent" class="connect-dialog" onClose={onClose}>
      <h2>Connect an agent</h2>
      <div class="connect-form">
        <Segments
          label="Way to connect"
          options={WAYS}
          value={way.value}
          onChoose={(next) => {
            way.value = next;
          }}
        />
        {profiles.value.length > 0 && (
          <Labelled
            id="connect-profile"
            label="Profile"
            note="Decides which servers and tools the agent has."
          >
            <select
              id="connect-profile"
              value={profile.value}
              onInput={(event) => {
                profile.value = event.currentTarget.value;
                created.value = undefined;
              }}
            >
              <option value="">none: all servers and tools</option>
              {profiles.value.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </Labelled>
        )}
        {way.value === 'local' && <Lines lines={lines.value?.local ?? []} />}
        {way.value === 'remote' && created.value === undefined && (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void create();
            }}
          >
            <Labelled id="token-name" label="Name of the client" note="Shown with its calls and questions.">
              <input
                id="token-name"
                type="text"
                autocomplete="off"
                placeholder="laptop"
                value={name.value}
                aria-invalid={error.value === undefined ? undefined : true}
                onInput={(event) => {
                  name.value = event.currentTarget.value;
                }}
              />
            </Labelled>
            <div role="alert">
              <ErrorCallout error={error.value} />
            </div>
            <div class="actions">
              <Button kind="primary" type="submit" disabled={name.value.trim() === ''}>
                Create its token
              </Button>
            </div>
          </form>
        )}
        {way.value === 'remote' && created.value !== undefined && (
          <>
            <p class="hint">{`The token of ${created.value.name} is shown only now. Give it to this client only.`}</p>
            <div class="command-line">
              <code class="new-token">{created.value.token}</code>
              <CopyButton text={created.value.token} />
            </div>
            <Lines lines={created.value.connect} />
          </>
        )}
      </div>
      <div class="actions end">
        <Button onPress={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function Lines({ lines }: { readonly lines: readonly ConnectLines[] }): JSX.Element {
  return (
    <div class="connect-lines">
      {lines.map(({ agent, where, lines: own }) => (
        <div key={agent}>
          <div class="connect-head">
            <strong>{agent}</strong>
            <span class="hint">{where === 'type' ? 'type in a terminal' : where}</span>
            <CopyButton text={own.join('\n')} />
          </div>
          <pre class="code" tabIndex={0}>
            {own.join('\n')}
          </pre>
        </div>
      ))}
    </div>
  );
}
