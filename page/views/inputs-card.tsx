/** Values that entries of servers ask for, such as keys: which are set, where they are stored, and a form to set one. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiPath } from '../api.ts';
import { useApp } from '../app.ts';
import { ErrorCallout, Tag } from '../ui/bits.tsx';
import { Button, ConfirmButton } from '../ui/button.tsx';

interface InputReport {
  readonly id: string;
  readonly servers?: readonly string[];
  readonly description?: string;
  readonly kept: string | null;
}

export function InputsCard(): JSX.Element | null {
  const { api, store } = useApp();
  const inputs = useSignal<readonly InputReport[]>([]);
  const error = useSignal<unknown>(undefined);
  const show = (work: Promise<{ inputs: readonly InputReport[] }>): Promise<void> =>
    work.then(
      (answer) => {
        inputs.value = answer.inputs;
        error.value = undefined;
      },
      (failure) => {
        error.value = failure;
      },
    );
  useEffect(() => void show(api.get('/api/inputs')), [store.configVersion.value]);
  if (inputs.value.length === 0) return null;
  return (
    <section class="card">
      <h2>Inputs of servers</h2>
      <p class="hint">
        Values that entries refer to. They are stored outside of the configuration, and never shown.
      </p>
      <ErrorCallout error={error.value} />
      {inputs.value.map((input) => (
        <InputRow
          key={`${input.id} ${input.servers?.join()}`}
          input={input}
          onSet={(value) =>
            show(api.send('POST', '/api/inputs', { id: input.id, value, ...serverOf(input) }))
          }
          onRemove={() => show(api.send('DELETE', apiPath('inputs', input.id)))}
        />
      ))}
    </section>
  );
}

function serverOf({ servers = [] }: InputReport): { server?: string } {
  const [server] = servers;
  return server === undefined ? {} : { server };
}

interface InputRowProps {
  readonly input: InputReport;
  readonly onSet: (value: string) => Promise<void>;
  readonly onRemove: () => Promise<void>;
}

function InputRow({ input, onSet, onRemove }: InputRowProps): JSX.Element {
  const typed = useSignal('');
  const { id, servers = [], description, kept } = input;
  return (
    <form
      class="setting"
      onSubmit={(event) => {
        event.preventDefault();
        void onSet(typed.value).then(() => {
          typed.value = '';
        });
      }}
    >
      <div>
        <strong>{id}</strong>{' '}
        {kept === null ? <Tag tone="warn">not set</Tag> : <Tag tone="good">{`set, in the ${kept}`}</Tag>}
        <p class="hint">{[description, servers.join(', ')].filter(Boolean).join(' · ')}</p>
      </div>
      <div class="actions">
        <input
          class="input-value"
          type="password"
          aria-label={`Value of ${id}`}
          autocomplete="off"
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
          }}
        />
        <Button type="submit" disabled={typed.value === ''}>
          Set
        </Button>
        {kept !== null && (
          <ConfirmButton kind="quiet" label="Forget" confirmLabel="Really forget" onConfirm={onRemove} />
        )}
      </div>
    </form>
  );
}
