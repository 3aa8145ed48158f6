/** The dialog that adds a server: a command, a URL or an entry as JSON, and its scope. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../api.ts';
import type { Json, ServerOrigin } from '../api-types.ts';
import { useApp } from '../app.ts';
import { parseJson } from '../form/json-text.ts';
import { shellWords } from '../shell-words.ts';
import { Labelled } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ServerPaste } from './server-paste.tsx';
import { ServerPreset } from './server-preset.tsx';

const DRAFT = 'add-server';

export const SCOPES = [
  ['local', 'You, in this project'],
  ['user', 'You, everywhere'],
  ['project', 'Everyone who works on this project (.mcp.json)'],
] as const;

const KINDS = [
  ['stdio', 'A command on this machine'],
  ['http', 'An address'],
  ['json', 'An entry as JSON'],
  ['paste', 'Paste from a README'],
  ['preset', 'A known server'],
] as const;

interface Typed {
  readonly name: string;
  readonly scope: string;
  readonly kind: string;
  readonly command: string;
  readonly environment: string;
  readonly url: string;
  readonly headers: string;
  readonly entry: string;
}

const EMPTY: Typed = {
  name: '',
  scope: 'local',
  kind: 'stdio',
  command: '',
  environment: '',
  url: '',
  headers: '',
  entry: '',
};

/** Key of the state whether the dialog is open, for other views that open it. */
export const ADDING_KEY = 'servers.adding';

export function ServerAdd({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { api, store, notices, router, drafts } = useApp();
  const typed = useSignal<Typed>({ ...EMPTY, ...(drafts.load(DRAFT) as Partial<Typed> | undefined) });
  const error = useSignal<unknown>(undefined);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  const set = (part: Partial<Typed>): void => {
    typed.value = { ...typed.value, ...part };
    drafts.save(DRAFT, typed.value);
  };
  const add = async (isReplacement = false): Promise<void> => {
    error.value = undefined;
    const { name: typedName, scope } = typed.value;
    const name = typedName.trim();
    try {
      const entry = entryOf(typed.value);
      const otherScope = store.servers.value.find((each) => each.name === name)?.scope;
      const body = { name, scope, entry, ...(isReplacement ? { replace: true } : {}) };
      const added = await api.send<ServerOrigin>('POST', '/api/servers', body);
      drafts.remove(DRAFT);
      onClose();
      const done = isReplacement ? 'replaced' : 'added';
      notices.add(`${added.name} is ${done}${added.status === 'connected' ? ' and connected' : ''}.`, {
        hint:
          precedenceHint(name, scope, otherScope, added) ??
          (added.unapproved === undefined ? added.error?.hint : 'Read its entry and approve it to start it.'),
      });
      await Promise.all([store.loadServers(), store.loadTools()]);
      router.go(['servers', added.name]);
    } catch (failure) {
      error.value = failure;
    }
  };
  const control = (key: keyof Typed) => ({
    id: `add-${key}`,
    value: typed.value[key],
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      set({ [key]: event.currentTarget.value }),
  });
  const { kind } = typed.value;
  const isTyped = kind !== 'paste' && kind !== 'preset';
  const done = async (added: ServerOrigin): Promise<void> => {
    onClose();
    notices.add(`${added.name} is added.`, {
      hint:
        added.notes?.[0] ??
        (added.status === 'untrusted' ? 'Read its entry and approve it to start it.' : undefined),
    });
    await Promise.all([store.loadServers(), store.loadTools()]);
    router.go(['servers', added.name]);
  };
  return (
    <Dialog label="Add a server" onClose={onClose}>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (isTyped) void add();
        }}
      >
        <h2>Add a server</h2>
        <div class={isTyped ? 'pair' : ''}>
          {isTyped && (
            <Labelled id="add-name" label="Name">
              <input {...control('name')} type="text" autocomplete="off" placeholder="files" />
            </Labelled>
          )}
          <Labelled id="add-scope" label="For">
            <select {...control('scope')}>
              {SCOPES.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </Labelled>
        </div>
        <Labelled id="add-kind" label="Kind of server">
          <select {...control('kind')}>
            {KINDS.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Labelled>
        {kind === 'stdio' && (
          <>
            <Labelled
              id="add-command"
              label="Command"
              note="Split into arguments as a shell would, but not run by a shell."
            >
              <input
                {...control('command')}
                class="mono"
                type="text"
                spellcheck={false}
                placeholder="npx -y @modelcontextprotocol/server-filesystem ."
              />
            </Labelled>
            <Labelled id="add-environment" label="Environment" note="One per line.">
              <textarea
                {...control('environment')}
                class="mono"
                rows={2}
                spellcheck={false}
                placeholder="NAME=value, or NAME=${NAME} to take it from your environment"
              />
            </Labelled>
          </>
        )}
        {kind === 'http' && (
          <>
            <Labelled id="add-url" label="Address">
              <input
                {...control('url')}
                class="mono"
                type="url"
                spellcheck={false}
                placeholder="https://example.com/mcp"
              />
            </Labelled>
            <Labelled id="add-headers" label="Headers" note="One per line: Name=value.">
              <textarea
                {...control('headers')}
                class="mono"
                rows={2}
                spellcheck={false}
                placeholder="X-Key=${DOCS_KEY}"
              />
            </Labelled>
          </>
        )}
        {kind === 'json' && (
          <Labelled id="add-entry" label="Entry">
            <textarea
              {...control('entry')}
              class="mono"
              rows={6}
              spellcheck={false}
              placeholder='{ "command": "npx", "args": ["-y", "…"], "env": { "KEY": "${KEY}" } }'
            />
          </Labelled>
        )}
        {kind === 'paste' && <ServerPaste scope={typed.value.scope} onAdded={done} />}
        {kind === 'preset' && <ServerPreset scope={typed.value.scope} onAdded={done} />}
        <div role="alert">
          {error.value !== undefined && <AddError error={error.value} onReplace={() => add(true)} />}
        </div>
        <div class="actions end">
          <Button kind="quiet" onPress={onClose}>
            Cancel
          </Button>
          {isTyped && (
            <Button kind="primary" type="submit">
              Add
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

function AddError({
  error,
  onReplace,
}: {
  readonly error: unknown;
  readonly onReplace: () => unknown;
}): JSX.Element {
  const isTaken = error instanceof ApiError && error.status === 409 && error.code === 'USAGE';
  const { message, hint } = error as { message: string; hint?: string };
  return (
    <div class="callout bad">
      <p>{message}</p>
      {isTaken ? (
        <>
          <p class="hint">Choose another name, or replace its entry.</p>
          <div class="actions">
            <Button kind="danger" onPress={onReplace}>
              Replace it
            </Button>
          </div>
        </>
      ) : (
        hint !== undefined && <p class="hint">{hint}</p>
      )}
    </div>
  );
}

/** Returns a hint if the same name exists in another scope, because only one of the entries is used. */
function precedenceHint(
  name: string,
  scope: string,
  otherScope: string | undefined,
  added: ServerOrigin,
): string | undefined {
  if (otherScope === undefined || otherScope === scope) return undefined;
  return added.scope === scope
    ? `It is used instead of ${name} in ${otherScope} scope.`
    : `It is not used: ${name} in ${added.scope} scope has precedence.`;
}

function entryOf({ kind, command, url, entry, environment, headers }: Typed): Json {
  if (kind === 'json') {
    try {
      return parseJson(entry) as Json;
    } catch (error) {
      throw new Error(`The entry ${(error as Error).message}.`);
    }
  }
  const named = Object.fromEntries(
    (kind === 'http' ? headers : environment).split('\n').flatMap((line) => {
      const at = line.search(/[=:]/);
      return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
    }),
  );
  const hasNamed = Object.keys(named).length > 0;
  if (kind === 'http') return { url: url.trim(), ...(hasNamed ? { headers: named } : {}) };
  const [program, ...args] = shellWords(command);
  if (program === undefined) throw new Error('Enter a command.');
  return { command: program, ...(args.length === 0 ? {} : { args }), ...(hasNamed ? { env: named } : {}) };
}
