/** Profiles: which servers and tools a client has; listed, edited as JSON, and removed. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiPath } from '../api.ts';
import type { Json } from '../api-types.ts';
import { useApp } from '../app.ts';
import { parseJson } from '../form/json-text.ts';
import { plural } from '../text.ts';
import { ErrorCallout, Labelled } from '../ui/bits.tsx';
import { Button, ConfirmButton } from '../ui/button.tsx';

interface Profile {
  readonly name: string;
  readonly definition: Json;
  readonly clients?: readonly string[];
  readonly servers?: readonly string[];
  readonly toolCount?: number;
  readonly problem?: string;
}

const EXAMPLE: Json = { servers: ['files'], tools: ['*__read_*', '*__list_*'] };

interface Edited {
  readonly name: string;
  readonly text: string;
  readonly isNew: boolean;
}

export function ProfilesCard(): JSX.Element {
  const { api, store, notices } = useApp();
  const profiles = useSignal<readonly Profile[] | undefined>(undefined);
  const edited = useSignal<Edited | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const load = (): Promise<void> =>
    api.get<{ profiles: readonly Profile[] }>('/api/profiles').then(
      (answer) => {
        profiles.value = answer.profiles;
      },
      (failure) => notices.showError(failure),
    );
  useEffect(() => void load(), [store.configVersion.value]);
  const edit = (name: string, definition: Json, isNew: boolean): void => {
    error.value = undefined;
    edited.value = { name, text: JSON.stringify(definition, null, 2), isNew };
  };
  const save = async (): Promise<void> => {
    if (edited.value === undefined) return;
    error.value = undefined;
    try {
      const { name, text, isNew } = edited.value;
      const body = { name: name.trim(), profile: parseJson(text), ...(isNew ? {} : { replace: true }) };
      await api.send('POST', '/api/profiles', body);
      edited.value = undefined;
      await load();
    } catch (failure) {
      error.value = failure;
      document.getElementById('profile-text')?.focus();
    }
  };
  return (
    <section class="rule-list">
      <h2>Profiles</h2>
      <p class="hint">
        A profile decides which servers and tools a client has, and how often it may call them.
      </p>
      {profiles.value?.length === 0 && <p class="none">None.</p>}
      <ul class="rule-rows">
        {(profiles.value ?? []).map((profile) => (
          <li key={profile.name} class="rule-row profile-row">
            <div>
              <strong>{profile.name}</strong>
              <p class="hint">{aboutProfile(profile)}</p>
              {profile.problem !== undefined && <p class="field-error">{profile.problem}</p>}
            </div>
            <div class="actions">
              <Button kind="quiet" onPress={() => edit(profile.name, profile.definition, false)}>
                Edit
              </Button>
              <ConfirmButton
                kind="quiet"
                label="Remove"
                confirmLabel="Really remove"
                onConfirm={async () => {
                  await api
                    .send('DELETE', apiPath('profiles', profile.name))
                    .catch((failure) => notices.showError(failure));
                  await load();
                }}
              />
            </div>
          </li>
        ))}
      </ul>
      {edited.value === undefined ? (
        <div class="actions">
          <Button onPress={() => edit('', EXAMPLE, true)}>Add a profile</Button>
        </div>
      ) : (
        <div class="card">
          <Labelled id="profile-name" label="Name of the profile">
            <input
              id="profile-name"
              type="text"
              autocomplete="off"
              value={edited.value.name}
              readOnly={!edited.value.isNew}
              onInput={(event) => {
                if (edited.value !== undefined)
                  edited.value = { ...edited.value, name: event.currentTarget.value };
              }}
            />
          </Labelled>
          <Labelled id="profile-text" label="Definition, as in config.json">
            <textarea
              id="profile-text"
              class="json"
              rows={8}
              spellcheck={false}
              value={edited.value.text}
              aria-invalid={error.value === undefined ? undefined : true}
              onInput={(event) => {
                if (edited.value !== undefined)
                  edited.value = { ...edited.value, text: event.currentTarget.value };
              }}
            />
          </Labelled>
          <div role="alert">
            <ErrorCallout error={error.value} />
          </div>
          <div class="actions">
            <Button kind="primary" onPress={save}>
              Save the profile
            </Button>
            <Button
              kind="quiet"
              onPress={() => {
                edited.value = undefined;
              }}
            >
              Discard
            </Button>
          </div>
        </div>
      )}
    </section>
  );
}

function aboutProfile({ servers, toolCount, clients = [] }: Profile): string {
  return [
    servers === undefined ? undefined : plural(servers.length, 'server'),
    toolCount === undefined ? undefined : plural(toolCount, 'tool'),
    clients.length === 0 ? 'no client' : `for ${clients.join(', ')}`,
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
}
