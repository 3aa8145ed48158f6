/** What the tools of each server cost a model: a chart of definitions and results, and the change that saves most. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { shellWord } from '../../src/lib/shell-word.ts';
import { useApp } from '../app.ts';
import { count, plural } from '../text.ts';
import { CopyButton, ErrorCallout, Waiting } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';

interface Cost {
  readonly days: number;
  readonly search: boolean;
  readonly given: number;
  readonly servers: readonly {
    readonly server: string;
    readonly definitions: { readonly full: number };
    readonly calls: number;
    readonly resultTokens: number;
    readonly unused: boolean;
    readonly tools: readonly unknown[];
  }[];
  readonly saving?: { readonly tokens: number; readonly reason: string; readonly command: readonly string[] };
}

type Shown =
  | { readonly state: 'closed' | 'counting' }
  | { readonly state: 'counted'; readonly cost: Cost }
  | { readonly state: 'failed'; readonly error: unknown };

const MAX_SERVERS = 12;

/** Counting loads a tokenizer in the gateway, so it begins when a person asks for it. */
export function CostCard(): JSX.Element {
  const { api } = useApp();
  const shown = useSignal<Shown>({ state: 'closed' });
  const load = async (): Promise<void> => {
    shown.value = { state: 'counting' };
    try {
      shown.value = { state: 'counted', cost: await api.get<Cost>('/api/cost') };
    } catch (error) {
      shown.value = { state: 'failed', error };
    }
  };
  const { value } = shown;
  return (
    <section class="card wide cost-card">
      <h2>What tools cost</h2>
      {value.state === 'counted' ? (
        <CostChart cost={value.cost} />
      ) : (
        <p class="hint">Tokens of definitions and results that models read, by server.</p>
      )}
      {value.state === 'failed' && <ErrorCallout error={value.error} />}
      {value.state === 'counting' ? (
        <Waiting>Counting …</Waiting>
      ) : (
        <div class="actions">
          <Button kind="small" onPress={load}>
            {value.state === 'closed' ? 'Count tokens' : 'Count again'}
          </Button>
        </div>
      )}
    </section>
  );
}

function CostChart({ cost }: { readonly cost: Cost }): JSX.Element {
  const { days, search, given, servers, saving } = cost;
  const [shown, rest] = [servers.slice(0, MAX_SERVERS), servers.length - MAX_SERVERS];
  const top = (of: 'definitions' | 'results'): number =>
    Math.max(1, ...shown.map((each) => (of === 'results' ? each.resultTokens : each.definitions.full)));
  return (
    <>
      <p>
        {search ? 'Tools are found by search: a model' : 'A model'} gets <strong>{count(given)}</strong>{' '}
        tokens of definitions with each request.
      </p>
      <table class="cost-table">
        <thead>
          <tr>
            <th>Server</th>
            <th>Definitions</th>
            <th>{`Results, ${plural(days, 'day')}`}</th>
            <th>Calls</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ server, tools, definitions, resultTokens, calls, unused }) => (
            <tr key={server}>
              <th>
                {server} <span class="hint">{plural(tools.length, 'tool')}</span>
              </th>
              <Bar value={definitions.full} top={top('definitions')} />
              <Bar value={resultTokens} top={top('results')} />
              <td>{unused ? <span class="cost-unused">{`none in ${days} days`}</span> : count(calls)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 && <p class="hint">{`${plural(rest, 'more server')} with fewer tokens`}</p>}
      {saving !== undefined && (
        <p class="cost-saving">
          {`${saving.reason}. This saves ${count(saving.tokens)} tokens: `}
          <code>{saving.command.map(shellWord).join(' ')}</code>{' '}
          <CopyButton text={saving.command.map(shellWord).join(' ')} />
        </p>
      )}
    </>
  );
}

/** A number with a bar of its share of the largest. */
function Bar({ value, top }: { readonly value: number; readonly top: number }): JSX.Element {
  return (
    <td class="cost-bar">
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect width={((value / top) * 100).toFixed(2)} height={10} rx={1} />
      </svg>
      <span>{count(value)}</span>
    </td>
  );
}
