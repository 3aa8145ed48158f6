/** Small elements that several views share. */

import type { ComponentChildren, JSX } from 'preact';
import { useApp } from '../app.ts';
import type { Shown, Tone } from '../states.ts';
import { Button } from './button.tsx';

export function Dot({ tone }: { readonly tone: Tone }): JSX.Element {
  return <span class={`dot ${tone}`} aria-hidden="true" />;
}

export function Pill({ state }: { readonly state: Shown }): JSX.Element {
  return (
    <span class="pill" data-tone={state.tone}>
      {state.label}
    </span>
  );
}

export interface TagProps {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children: ComponentChildren;
}

export function Tag({ tone, title, children }: TagProps): JSX.Element {
  return (
    <span class="tag" data-tone={tone} title={title}>
      {children}
    </span>
  );
}

export interface CalloutProps {
  readonly kind?: '' | 'bad' | 'warn' | 'busy' | 'good';
  readonly hint?: string | undefined;
  readonly children: ComponentChildren;
}

/** A framed message: what happened, and what to do. */
export function Callout({ kind = '', hint, children }: CalloutProps): JSX.Element {
  return (
    <div class={`callout ${kind}`}>
      {typeof children === 'string' ? <p>{children}</p> : children}
      {hint !== undefined && hint !== '' && <p class="hint">{hint}</p>}
    </div>
  );
}

/** Shows an error with its hint; nothing if there is none. */
export function ErrorCallout({ error }: { readonly error: unknown }): JSX.Element | null {
  if (error === undefined || error === null) return null;
  const { message, hint } = error as { message?: string; hint?: string };
  return (
    <Callout kind="bad" hint={hint}>
      <p>{message ?? 'The action failed'}</p>
    </Callout>
  );
}

export type Fact = readonly [name: string, value: ComponentChildren];

/** A list of names and values; entries without a value are omitted. */
export function Facts({ rows }: { readonly rows: readonly Fact[] }): JSX.Element {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export interface SegmentsProps<Name extends string> {
  readonly label: string;
  readonly options: readonly (readonly [Name, string])[];
  readonly value: Name;
  readonly onChoose: (name: Name) => void;
}

/** A few choices in one line, of which one is selected. */
export function Segments<Name extends string>(props: SegmentsProps<Name>): JSX.Element {
  const { label, options, value, onChoose } = props;
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = options.findIndex(([name]) => name === value);
    const next = options[(at + step + options.length) % options.length];
    if (next === undefined) return;
    onChoose(next[0]);
    const buttons = (event.currentTarget as HTMLElement).querySelectorAll('button');
    buttons[options.indexOf(next)]?.focus();
  };
  return (
    <div class="segments" role="radiogroup" aria-label={label} onKeyDown={move}>
      {options.map(([name, text]) => (
        <button
          key={name}
          type="button"
          role="radio"
          aria-checked={name === value}
          tabIndex={name === value ? 0 : -1}
          onClick={() => onChoose(name)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

export interface CopyProps {
  readonly text: string | (() => string);
  readonly label?: string;
  readonly kind?: string;
}

export function CopyButton({ text, label = 'Copy', kind = 'small' }: CopyProps): JSX.Element {
  const { notices } = useApp();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      notices.add('Copied to the clipboard.');
    } catch {
      notices.add('The browser did not allow access to the clipboard.', { kind: 'bad' });
    }
  };
  return (
    <Button kind={kind} onPress={copy}>
      {label}
    </Button>
  );
}

/** Saves bytes or text as a file of the browser. */
export function saveFile(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replace(/[^\w.-]+/g, '_').slice(0, 80);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export interface LabelledProps {
  readonly id: string;
  readonly label: string;
  readonly note?: string | undefined;
  readonly error?: string | undefined;
  readonly children: ComponentChildren;
}

/** A control of the page's own forms with its label, note and error; the control needs the same id. */
export function Labelled({ id, label, note, error, children }: LabelledProps): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {error !== undefined && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {note !== undefined && <p class="field-note">{note}</p>}
    </div>
  );
}

export function Waiting({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <p class="waiting">
      <span class="spinner" aria-hidden="true" />
      <span>{children}</span>
    </p>
  );
}

/** Opens an http or https URL in a new window without opener and referrer; ignores other URLs. */
export function openUrl(url: string): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol === 'https:' || protocol === 'http:') window.open(url, '_blank', 'noopener,noreferrer');
}
