/** The rules view: which calls are allowed, asked about and denied, and by which rule; adds and removes rules. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { queryOf } from '../api.ts';
import { useApp } from '../app.ts';
import { plural } from '../text.ts';
import { ErrorCallout, Tag } from '../ui/bits.tsx';
import { Button, ConfirmButton } from '../ui/button.tsx';
import { RuleEditor } from '../ui/rule-editor.tsx';
import { ProfilesCard } from './profiles-card.tsx';

const LISTS = [
  ['deny', 'Denied', 'Calls that match are refused.'],
  ['ask', 'Asked about', 'You decide about each call that matches, even if another rule allows it.'],
  ['allow', 'Allowed', 'Calls that match run without a question.'],
  ['readOnly', 'Read-only', 'Tools that match are treated as reading only, whatever their server states.'],
] as const;
type ListName = (typeof LISTS)[number][0];

interface Rule {
  readonly list: string;
  readonly rule: string;
  readonly owner: string;
  readonly of?: string;
  readonly file?: string;
  readonly isEditable: boolean;
  readonly tools: number;
  readonly hasConditions?: boolean;
  readonly fault?: { readonly message: string; readonly hint?: string };
}

export function RulesView(): JSX.Element {
  const { api, store, notices } = useApp();
  const rules = useSignal<readonly Rule[] | undefined>(undefined);
  const load = (): Promise<void> =>
    api.get<{ rules: readonly Rule[] }>('/api/rules').then(
      (answer) => {
        rules.value = answer.rules;
      },
      (error) => notices.showError(error),
    );
  useEffect(() => void load(), [store.configVersion.value]);
  const remove = async ({ list, rule, owner, of }: Rule): Promise<void> => {
    const query = queryOf({
      list,
      rule,
      project: owner === 'project' ? of : undefined,
      plugin: owner === 'plugin' ? of : undefined,
    });
    await api.send('DELETE', `/api/rules${query}`).catch((error) => notices.showError(error));
    await load();
  };
  return (
    <div class="plain">
      <div class="head">
        <div class="head-line">
          <h1>Rules</h1>
          <span class="counted">{rules.value === undefined ? '' : plural(rules.value.length, 'rule')}</span>
        </div>
        <p class="hint">The strongest rule that matches a call decides: deny, then ask, then allow.</p>
      </div>
      <div class="sheet">
        <AddRule onAdded={load} />
        {LISTS.map(([list, label, about]) => (
          <section key={list} class="rule-list">
            <h2>{label}</h2>
            <p class="hint">{about}</p>
            <RuleRows rules={(rules.value ?? []).filter((rule) => rule.list === list)} onRemove={remove} />
          </section>
        ))}
        <ProfilesCard />
      </div>
    </div>
  );
}

interface RuleRowsProps {
  readonly rules: readonly Rule[];
  readonly onRemove: (rule: Rule) => Promise<void>;
}

function RuleRows({ rules, onRemove }: RuleRowsProps): JSX.Element {
  if (rules.length === 0) return <p class="none">None.</p>;
  return (
    <ul class="rule-rows">
      {rules.map((rule) => (
        <li key={`${rule.owner} ${rule.of} ${rule.rule}`} class="rule-row">
          <div>
            <code>{rule.rule}</code>
            <p class="hint">
              {[
                ruleOwner(rule),
                rule.fault === undefined ? `matches ${plural(rule.tools, 'known tool')}` : undefined,
                rule.hasConditions === true ? 'with conditions on arguments' : undefined,
              ]
                .filter((part) => part !== undefined)
                .join(' · ')}
            </p>
            {rule.fault !== undefined && <p class="field-error">{rule.fault.message}</p>}
          </div>
          {rule.isEditable ? (
            <ConfirmButton
              kind="quiet"
              label="Remove"
              confirmLabel="Really remove"
              onConfirm={() => onRemove(rule)}
            />
          ) : (
            <Tag title="Change it in its file">fixed</Tag>
          )}
        </li>
      ))}
    </ul>
  );
}

function ruleOwner({ owner, of }: Rule): string {
  switch (owner) {
    case 'you':
      return 'yours';
    case 'managed':
      return 'of your administrator';
    default:
      return of === undefined ? `of a ${owner}` : `for the ${owner} ${of}`;
  }
}

function AddRule({ onAdded }: { readonly onAdded: () => Promise<void> }): JSX.Element {
  const { api, notices } = useApp();
  const list = useSignal<ListName>('allow');
  const rule = useSignal('');
  const error = useSignal<unknown>(undefined);
  const add = async (): Promise<void> => {
    error.value = undefined;
    try {
      await api.send('POST', '/api/rules', { list: list.value, rule: rule.value.trim() });
      rule.value = '';
      notices.add('The rule is added.', { kind: 'good' });
      await onAdded();
    } catch (failure) {
      error.value = failure;
    }
  };
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <h2>Add a rule</h2>
      <div class="field">
        <label for="rule-list">For calls that are</label>
        <select
          id="rule-list"
          value={list.value}
          onInput={(event) => {
            list.value = LISTS.find(([name]) => name === event.currentTarget.value)?.[0] ?? 'allow';
          }}
        >
          {LISTS.map(([name, label]) => (
            <option key={name} value={name}>
              {label.toLowerCase()}
            </option>
          ))}
        </select>
      </div>
      <RuleEditor id="new-rule" rule={rule} list={list.value} />
      <div role="alert">
        <ErrorCallout error={error.value} />
      </div>
      <div class="actions">
        <Button kind="primary" type="submit" disabled={rule.value.trim() === ''}>
          Add
        </Button>
      </div>
    </form>
  );
}
