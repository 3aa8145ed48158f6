/** Fields for the arguments of a prompt or of a resource template, with the server's suggestions while one types. */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { apiPath } from '../api.ts';
import { useApp } from '../app.ts';
import { cut, oneLine, plain } from '../text.ts';
import { Labelled } from '../ui/bits.tsx';

/** Between the last key and the request. */
const TYPING_MS = 150;
const MAX_SUGGESTIONS = 50;
const MAX_SUGGESTION_CHARS = 200;
const MAX_NOTE_CHARS = 300;

export interface Argument {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
}

export type ArgumentValues = Readonly<Record<string, string>>;

/** What the arguments belong to: the name of a prompt, or a template. */
export type Reference = { readonly prompt: string } | { readonly template: string };

export interface ArgumentFieldsProps {
  /** Prefix of the ids of the fields. */
  readonly id: string;
  readonly server: string;
  readonly of: Reference;
  readonly args: readonly Argument[];
  readonly values: Signal<ArgumentValues>;
  /** Names of required arguments that were missing. */
  readonly missing: ReadonlySet<string>;
}

export function ArgumentFields(props: ArgumentFieldsProps): JSX.Element {
  const { id, args, ...shared } = props;
  return (
    <div class="form">
      {args.map((argument, at) => (
        <ArgumentField key={argument.name} id={`${id}-${at}`} argument={argument} {...shared} />
      ))}
    </div>
  );
}

/** Returns the required arguments without a value, and focuses the first. */
export function missingIn(
  id: string,
  args: readonly Argument[],
  values: ArgumentValues,
): ReadonlySet<string> {
  const missing = args.filter(({ name, required }) => required === true && (values[name] ?? '') === '');
  if (missing[0] !== undefined) document.getElementById(`${id}-${args.indexOf(missing[0])}`)?.focus();
  return new Set(missing.map(({ name }) => name));
}

interface ArgumentFieldProps extends Omit<ArgumentFieldsProps, 'args'> {
  readonly argument: Argument;
}

function ArgumentField({ id, server, of, argument, values, missing }: ArgumentFieldProps): JSX.Element {
  const { name, title, description, required } = argument;
  const value = values.value[name] ?? '';
  const [suggestions, suggest] = useSuggestions(server, of, name);
  return (
    <Labelled
      id={id}
      label={`${plain(title ?? name)}${required === true ? ' (required)' : ''}`}
      note={description === undefined ? undefined : oneLine(description, MAX_NOTE_CHARS)}
      error={missing.has(name) && value === '' ? 'is required' : undefined}
    >
      <input
        id={id}
        type="text"
        list={`${id}-suggestions`}
        spellcheck={false}
        autocomplete="off"
        value={value}
        onFocus={() => suggest(values.value)}
        onInput={(event) => {
          values.value = { ...values.value, [name]: event.currentTarget.value };
          suggest(values.value);
        }}
      />
      <datalist id={`${id}-suggestions`}>
        {suggestions.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </Labelled>
  );
}

/** Returns the suggestions for an argument, and a function that requests them for the current values. */
function useSuggestions(
  server: string,
  of: Reference,
  name: string,
): readonly [readonly string[], (values: ArgumentValues) => void] {
  const { api } = useApp();
  const found = useSignal<readonly string[]>([]);
  const pending = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => pending.current?.abort(), []);
  const suggest = (values: ArgumentValues): void => {
    pending.current?.abort();
    const abort = new AbortController();
    pending.current = abort;
    const { [name]: value = '', ...others } = values;
    const request = { ...of, argument: { name, value }, arguments: others };
    const timer = setTimeout(() => {
      api
        .send<{ values: readonly string[] }>(
          'POST',
          apiPath('servers', server, 'complete'),
          request,
          abort.signal,
        )
        .then(
          (answer) => {
            found.value = answer.values
              .slice(0, MAX_SUGGESTIONS)
              .map((each) => cut(plain(each), MAX_SUGGESTION_CHARS));
          },
          // Suggestions are a convenience: a server without them is used as before.
          () => {},
        );
    }, TYPING_MS);
    abort.signal.addEventListener('abort', () => clearTimeout(timer));
  };
  return [found.value, suggest];
}
