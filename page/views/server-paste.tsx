/** Adds servers from a pasted README: JSON, a command line or an address, read by the gateway and shown before it is added. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { ApiError } from '../api.ts';
import type { Json, ServerOrigin } from '../api-types.ts';
import { useApp } from '../app.ts';
import { ErrorCallout, Labelled } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { JsonTree } from '../ui/json-tree.tsx';

interface ParsedServer {
  readonly name: string;
  readonly entry: Json;
  readonly lost: readonly string[];
  readonly notes: readonly string[];
}

export interface ServerPasteProps {
  readonly scope: string;
  readonly onAdded: (added: ServerOrigin) => Promise<void>;
}

export function ServerPaste({ scope, onAdded }: ServerPasteProps): JSX.Element {
  const { api } = useApp();
  const text = useSignal('');
  const parsed = useSignal<readonly ParsedServer[] | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const read = async (): Promise<void> => {
    error.value = undefined;
    parsed.value = undefined;
    try {
      parsed.value = (
        await api.send<{ servers: readonly ParsedServer[] }>('POST', '/api/parse', { text: text.value })
      ).servers;
    } catch (failure) {
      error.value = failure;
      document.getElementById('paste-text')?.focus();
    }
  };
  const add = async ({ name, entry }: ParsedServer): Promise<void> => {
    error.value = undefined;
    try {
      await onAdded(await api.send<ServerOrigin>('POST', '/api/servers', { name, scope, entry }));
    } catch (failure) {
      error.value = failure;
    }
  };
  return (
    <>
      <Labelled
        id="paste-text"
        label="Text of a README"
        note="JSON with mcpServers, a command line, or an address."
      >
        <textarea
          id="paste-text"
          class="mono"
          rows={6}
          spellcheck={false}
          placeholder={
            '{ "mcpServers": { "files": { "command": "npx", … } } }\nclaude mcp add files -- npx -y …'
          }
          value={text.value}
          aria-invalid={error.value === undefined ? undefined : true}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            parsed.value = undefined;
          }}
        />
      </Labelled>
      <div role="alert">
        <ErrorCallout error={error.value} />
        {error.value instanceof ApiError && <Where error={error.value} />}
      </div>
      {parsed.value === undefined ? (
        <div class="actions end">
          <Button kind="primary" disabled={text.value.trim() === ''} onPress={read}>
            Read it
          </Button>
        </div>
      ) : (
        parsed.value.map((server) => (
          <div key={server.name} class="card parsed">
            <strong>{server.name}</strong>
            <JsonTree value={server.entry} open deep />
            {server.lost.length > 0 && <p class="field-error">{`Left out: ${server.lost.join(', ')}`}</p>}
            {server.notes.map((note) => (
              <p key={note} class="hint">
                {note}
              </p>
            ))}
            <div class="actions">
              <Button kind="primary" onPress={() => add(server)}>
                {`Add ${server.name}`}
              </Button>
            </div>
          </div>
        ))
      )}
    </>
  );
}

function Where({ error }: { readonly error: ApiError }): JSX.Element | null {
  const { line, column } = error.failure as { line?: number; column?: number };
  if (line === undefined) return null;
  return <p class="field-error">{`Line ${line}${column === undefined ? '' : `, column ${column}`}`}</p>;
}
