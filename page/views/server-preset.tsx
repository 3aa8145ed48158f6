/** Adds a known server: a choice of presets, and fields for the values that one needs. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiPath } from '../api.ts';
import type { ServerOrigin } from '../api-types.ts';
import { useApp } from '../app.ts';
import { ErrorCallout, Labelled } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';

interface Preset {
  readonly id: string;
  readonly title: string;
  readonly transport: string;
  readonly note?: string;
  readonly needs: readonly {
    readonly kind: string;
    readonly key: string;
    readonly description: string;
    readonly fallback?: string;
    readonly variable?: string;
    readonly where?: string;
  }[];
}

export interface ServerPresetProps {
  readonly scope: string;
  readonly onAdded: (added: ServerOrigin) => Promise<void>;
}

export function ServerPreset({ scope, onAdded }: ServerPresetProps): JSX.Element {
  const { api } = useApp();
  const presets = useSignal<readonly Preset[]>([]);
  const id = useSignal('');
  const values = useSignal<Readonly<Record<string, string>>>({});
  const error = useSignal<unknown>(undefined);
  useEffect(() => {
    api.get<{ presets: readonly Preset[] }>('/api/presets').then(
      (answer) => {
        presets.value = answer.presets;
        id.value = answer.presets[0]?.id ?? '';
      },
      (failure) => {
        error.value = failure;
      },
    );
  }, []);
  const chosen = presets.value.find((preset) => preset.id === id.value);
  const add = async (): Promise<void> => {
    error.value = undefined;
    try {
      const given = Object.fromEntries(Object.entries(values.value).filter(([, value]) => value !== ''));
      await onAdded(
        await api.send<ServerOrigin>('POST', apiPath('presets', id.value), { scope, values: given }),
      );
    } catch (failure) {
      error.value = failure;
    }
  };
  return (
    <>
      <Labelled id="preset-id" label="Server" note={chosen?.note}>
        <select
          id="preset-id"
          value={id.value}
          onInput={(event) => {
            id.value = event.currentTarget.value;
            values.value = {};
          }}
        >
          {presets.value.map((preset) => (
            <option key={preset.id} value={preset.id}>
              {`${preset.id}: ${preset.title}`}
            </option>
          ))}
        </select>
      </Labelled>
      {(chosen?.needs ?? []).map((need, at) => (
        <Labelled key={need.key} id={`preset-${at}`} label={need.description} note={need.where}>
          <input
            id={`preset-${at}`}
            // The types of the attributes allow a union of kinds only one by one.
            type={(need.kind === 'secret' ? 'password' : 'text') as 'text'}
            autocomplete="off"
            placeholder={need.fallback ?? need.variable ?? ''}
            value={values.value[need.key] ?? ''}
            onInput={(event) => {
              values.value = { ...values.value, [need.key]: event.currentTarget.value };
            }}
          />
        </Labelled>
      ))}
      <div role="alert">
        <ErrorCallout error={error.value} />
      </div>
      <div class="actions end">
        <Button kind="primary" disabled={chosen === undefined} onPress={add}>
          Add it
        </Button>
      </div>
    </>
  );
}
