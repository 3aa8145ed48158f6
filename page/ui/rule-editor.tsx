/** Edits a permission rule, and shows while typing what it allows. */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useApp } from '../app.ts';
import { plural } from '../text.ts';
import { Dot, Tag } from './bits.tsx';

const TYPING_MS = 120;
const MAX_TOOLS_SHOWN = 8;

interface RulePreview {
  readonly valid: boolean;
  readonly fault?: { readonly message: string; readonly hint?: string; readonly at?: number };
  readonly onlyWith?: string;
  readonly tools?: readonly {
    readonly name: string;
    readonly server: string;
    readonly tool: string;
    readonly destructive: boolean;
    readonly alreadyAllowed: boolean;
  }[];
  readonly more?: number;
  readonly isThisCall?: boolean;
  readonly stronger?: readonly { readonly list: string; readonly rule?: string; readonly reason?: string }[];
}

export interface RuleEditorProps {
  readonly id: string;
  readonly rule: Signal<string>;
  readonly list: string;
  /** Id of the question whose call the rule should match. */
  readonly question?: string;
  readonly suggestions?: readonly string[] | undefined;
}

export function RuleEditor({ id, rule, list, question, suggestions = [] }: RuleEditorProps): JSX.Element {
  const { api } = useApp();
  const preview = useSignal<RulePreview | undefined>(undefined);
  const typed = rule.value.trim();
  useEffect(() => {
    if (typed === '') {
      preview.value = undefined;
      return undefined;
    }
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      const body = { rule: typed, list, ...(question === undefined ? {} : { question }) };
      const answer = await api
        .send<RulePreview>('POST', '/api/rules/preview', body, abort.signal)
        .catch(() => undefined);
      if (!abort.signal.aborted) preview.value = answer;
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [typed, list, question]);
  const fault = preview.value?.fault;
  const others = suggestions.filter((each) => each !== rule.value);
  return (
    <div class="rule-editor">
      <div class="field">
        <label for={id}>
          <span class="field-name">Rule</span>
        </label>
        <input
          id={id}
          class="mono"
          type="text"
          spellcheck={false}
          autocomplete="off"
          placeholder="github__list_*  or  files__write(path=/srv/**)"
          value={rule.value}
          aria-invalid={fault === undefined ? undefined : true}
          aria-describedby={fault === undefined ? undefined : `${id}-error`}
          onInput={(event) => {
            rule.value = event.currentTarget.value;
          }}
        />
        {fault !== undefined && (
          <p class="field-error" id={`${id}-error`}>
            {`${fault.message}${fault.at === undefined ? '' : ` (character ${fault.at + 1})`}`}
          </p>
        )}
      </div>
      {others.length > 0 && (
        <div class="actions suggestions">
          {others.map((each) => (
            <button
              key={each}
              class="small mono"
              type="button"
              onClick={() => {
                rule.value = each;
              }}
            >
              {each}
            </button>
          ))}
        </div>
      )}
      {preview.value?.valid === true && <Preview preview={preview.value} />}
    </div>
  );
}

function Preview({ preview }: { readonly preview: RulePreview }): JSX.Element {
  const { tools = [], more = 0, onlyWith, isThisCall, stronger = [] } = preview;
  const shown = tools.slice(0, MAX_TOOLS_SHOWN);
  const hidden = tools.length - shown.length + more;
  return (
    <div class="rule-preview" role="status">
      {isThisCall === false && <p class="field-error">This rule does not match the call that waits.</p>}
      {stronger.map(({ list, rule, reason }) => (
        <p key={`${list} ${rule}`} class="hint">
          {`Another rule of ${list} still applies: ${rule ?? reason ?? ''}`}
        </p>
      ))}
      <p class="hint">
        {tools.length + more === 0
          ? 'Matches no known tool.'
          : `Matches ${plural(tools.length + more, 'known tool')}.`}
        {onlyWith !== undefined && ` Only calls with ${onlyWith}.`}
      </p>
      <ul class="rule-tools">
        {shown.map(({ name, server, tool, destructive, alreadyAllowed }) => (
          <li key={name}>
            <Dot tone={destructive ? 'bad' : 'good'} />
            <span>{`${server} · ${tool}`}</span>
            {destructive && <Tag tone="bad">may change things</Tag>}
            {alreadyAllowed && <Tag>allowed already</Tag>}
          </li>
        ))}
        {hidden > 0 && <li class="none">{`${hidden} more`}</li>}
      </ul>
    </div>
  );
}
