/** The configuration of one server: where it is defined, and its entry, which can be edited as JSON. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { ApiError, apiPath, queryOf } from '../api.ts';
import type { Json, ServerOrigin, ServerPlace } from '../api-types.ts';
import { useApp } from '../app.ts';
import { parseJson } from '../form/json-text.ts';
import { ErrorCallout, Tag } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { JsonTree } from '../ui/json-tree.tsx';

interface EditableEntry {
  readonly scope: string;
  readonly file?: string;
  readonly entry: Json;
  readonly hidden: readonly (readonly string[])[];
  readonly digest: string;
}

export interface ServerEntryProps {
  readonly origin: ServerOrigin;
  readonly onSaved: () => Promise<void>;
}

export function ServerEntry({ origin, onSaved }: ServerEntryProps): JSX.Element {
  const { file, entry, terms, places = [] } = origin;
  const editing = useSignal<string | undefined>(undefined);
  const editable = places.filter(({ isEditable }) => isEditable);
  return (
    <section>
      <h3>Configuration</h3>
      {places.length > 1 ? (
        <ul class="places">
          {places.map((place) => (
            <PlaceLine key={place.scope} place={place} />
          ))}
        </ul>
      ) : (
        <p class="hint">
          {file === undefined ? 'For this run only; not stored in a file.' : <code>{file}</code>}
        </p>
      )}
      {editing.value === undefined ? (
        <>
          <JsonTree key={JSON.stringify(entry)} value={entry} open deep />
          {terms !== undefined && <p class="hint">{terms}</p>}
          <div class="actions entry-actions">
            {editable.map(({ scope }) => (
              <Button
                key={scope}
                onPress={() => {
                  editing.value = scope;
                }}
              >
                {editable.length > 1 ? `Edit in ${scope} scope` : 'Edit'}
              </Button>
            ))}
          </div>
        </>
      ) : (
        <EntryEditor
          key={editing.value}
          name={origin.name}
          scope={editing.value}
          onClose={() => {
            editing.value = undefined;
          }}
          onSaved={onSaved}
        />
      )}
    </section>
  );
}

function PlaceLine({ place }: { readonly place: ServerPlace }): JSX.Element {
  return (
    <li>
      <strong>{place.scope}</strong> {place.isUsed && <Tag tone="good">used</Tag>}{' '}
      {place.enabled === false && <Tag>disabled</Tag>} <code>{place.file ?? ''}</code>
    </li>
  );
}

interface EntryEditorProps {
  readonly name: string;
  readonly scope: string;
  readonly onClose: () => void;
  readonly onSaved: () => Promise<void>;
}

function EntryEditor({ name, scope, onClose, onSaved }: EntryEditorProps): JSX.Element {
  const { api, notices, drafts } = useApp();
  const draft = `entry:${name}:${scope}`;
  const loaded = useSignal<EditableEntry | undefined>(undefined);
  const text = useSignal('');
  const error = useSignal<unknown>(undefined);
  const path = apiPath('servers', name, 'entry');
  useEffect(() => {
    api.get<EditableEntry>(`${path}${queryOf({ scope })}`).then(
      (answer) => {
        loaded.value = answer;
        const kept = drafts.load(draft);
        text.value = typeof kept === 'string' ? kept : JSON.stringify(answer.entry, null, 2);
      },
      (failure) => {
        error.value = failure;
      },
    );
  }, [path, scope]);
  const close = (): void => {
    drafts.remove(draft);
    onClose();
  };
  const save = async (): Promise<void> => {
    error.value = undefined;
    try {
      const entry = parseJson(text.value);
      await api.send('POST', path, { entry, digest: loaded.value?.digest, scope });
      notices.add(`The entry of ${name} is saved.`, { kind: 'good' });
      close();
      await onSaved();
    } catch (failure) {
      error.value =
        failure instanceof ApiError ? failure : new Error(`The entry ${(failure as Error).message}`);
      document.getElementById('entry-text')?.focus();
    }
  };
  const hidden = loaded.value?.hidden ?? [];
  return (
    <div class="entry-editor">
      <div class="field">
        <label for="entry-text">{`Entry in ${scope} scope`}</label>
        <textarea
          id="entry-text"
          class="json"
          rows={12}
          spellcheck={false}
          value={text.value}
          aria-invalid={error.value === undefined ? undefined : true}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            drafts.save(draft, text.value);
          }}
        />
        {hidden.length > 0 && (
          <p class="field-note">
            {`Secrets are hidden: ${hidden.map((each) => each.join(' › ')).join(', ')}. Left as they are, they keep their value.`}
          </p>
        )}
        <p class="field-note">A change of what is run has to be approved again.</p>
      </div>
      <div role="alert">
        <ErrorCallout error={error.value} />
        {error.value instanceof ApiError && <ErrorPath error={error.value} />}
      </div>
      <div class="actions">
        <Button kind="primary" onPress={save}>
          Save
        </Button>
        <Button kind="quiet" onPress={close}>
          Discard
        </Button>
      </div>
    </div>
  );
}

function ErrorPath({ error }: { readonly error: ApiError }): JSX.Element | null {
  const { path } = error.failure as { path?: readonly string[] };
  if (path === undefined || path.length === 0) return null;
  return <p class="field-error">{`In ${path.join(' › ')}`}</p>;
}
