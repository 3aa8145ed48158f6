/** Removes a server after a confirmation, with a choice if several scopes have it. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { apiPath, queryOf } from '../api.ts';
import type { ServerPlace, ServerReport } from '../api-types.ts';
import { useApp } from '../app.ts';
import { Button } from '../ui/button.tsx';

/** Scopes whose files this page can change. */
const EDITABLE: ReadonlySet<string> = new Set(['local', 'project', 'user']);

export interface ServerRemoveProps {
  readonly report: ServerReport;
  readonly places: readonly ServerPlace[];
}

export function ServerRemove({ report, places }: ServerRemoveProps): JSX.Element {
  const { api, store, notices, router } = useApp();
  const { name } = report;
  const isAsking = useSignal(false);
  const scopes = places.filter(({ isEditable }) => isEditable).map(({ scope }) => scope);
  const used = EDITABLE.has(report.scope) ? report.scope : scopes[0];
  const chosen = useSignal<string | undefined>(undefined);
  const scope = chosen.value ?? used;
  const container = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    // The harmless button is focused, so that a second Enter does not confirm.
    if (isAsking.value) container.current?.querySelector('button')?.focus();
  }, [isAsking.value]);
  const remove = async (): Promise<void> => {
    try {
      const { file } = await api.send<{ file?: string }>(
        'DELETE',
        `${apiPath('servers', name)}${queryOf({ scope })}`,
      );
      notices.add(
        file === undefined ? `${name} is removed from this run.` : `${name} is removed from ${file}.`,
      );
      router.replace(['servers']);
      await store.loadServers();
      const remaining = store.servers.value.find((each) => each.name === name);
      if (remaining !== undefined) notices.add(`${name} in ${remaining.scope} scope is used now.`);
    } catch (error) {
      notices.showError(error);
    }
    isAsking.value = false;
  };
  return (
    <span class="removal" ref={container}>
      {isAsking.value ? (
        <>
          <Button
            key="keep"
            onPress={() => {
              isAsking.value = false;
            }}
          >
            Keep
          </Button>
          <Button key="confirm" kind="danger" onPress={remove}>
            Really remove
          </Button>
          {scopes.length > 1 ? (
            <select
              aria-label="From which scope"
              value={scope}
              onInput={(event) => {
                chosen.value = event.currentTarget.value;
              }}
            >
              {scopes.map((each) => (
                <option key={each} value={each}>{`from ${each} scope`}</option>
              ))}
            </select>
          ) : (
            scope !== undefined && <span class="hint">{`from ${scope} scope`}</span>
          )}
        </>
      ) : (
        <Button
          key="first"
          kind="quiet"
          onPress={() => {
            isAsking.value = true;
          }}
        >
          Remove
        </Button>
      )}
    </span>
  );
}
