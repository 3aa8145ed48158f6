/** The detail of one call: who made it, its arguments, its result or error, and which rule decided. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiPath } from '../api.ts';
import type { CallDetail, CallReport } from '../api-types.ts';
import { useApp } from '../app.ts';
import { agentText, callStateOf } from '../call-state.ts';
import { isObject } from '../form/json-schema.ts';
import { clockTime, count, dayOf, duration } from '../text.ts';
import { Callout, CopyButton, ErrorCallout, Facts, Pill, Waiting } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { PlaceLink } from '../ui/place-link.tsx';
import { ResultView } from '../ui/result.tsx';
import { RunningLine } from './running-line.tsx';

export function CallDetailView({ id }: { readonly id: string }): JSX.Element {
  const { api, store, router, notices } = useApp();
  const loaded = useSignal<CallDetail | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  void store.calls.version.value;
  const live = store.calls.get(id);
  useEffect(() => {
    const abort = new AbortController();
    api.get<CallDetail>(apiPath('calls', id), abort.signal).then(
      (call) => {
        loaded.value = call;
        error.value = undefined;
      },
      (failure) => {
        if (!abort.signal.aborted) error.value = failure;
      },
    );
    return () => abort.abort();
  }, [id, live?.outcome, store.historyVersion.value]);
  const call: CallDetail | undefined = loaded.value ?? live;
  const isRunning = (live ?? call)?.outcome === undefined;
  const cancel = (): Promise<void> =>
    api.send('POST', apiPath('calls', id, 'cancel')).then(
      () => notices.add('The call is cancelled.'),
      (failure) => notices.showError(failure),
    );
  return (
    <article class="call-detail">
      <button class="back always" type="button" onClick={() => router.backTo(['calls'])}>
        ‹ Back
      </button>
      {call === undefined ? (
        error.value === undefined ? (
          <Waiting>Loading …</Waiting>
        ) : (
          <ErrorCallout error={error.value} />
        )
      ) : (
        <>
          <div class="detail-head">
            <div class="detail-title">
              <h2>{call.tool}</h2>
              <Pill state={callStateOf(store, { id: call.id, outcome: live?.outcome ?? call.outcome })} />
            </div>
            <div class="actions">
              {isRunning && (
                <Button kind="danger" onPress={cancel}>
                  Cancel the call
                </Button>
              )}
              <RepeatButton call={call} />
              <CopyButton kind="" label="Copy link" text={() => location.href} />
            </div>
          </div>
          <WhoAndWhere call={{ ...call, ...live }} />
          {call.error !== undefined && (
            <Callout kind="bad" hint={call.error.hint}>
              {call.error.message}
            </Callout>
          )}
          <section>
            <h3>
              Arguments
              {call.arguments !== undefined && (
                <CopyButton text={() => JSON.stringify(call.arguments, null, 2)} />
              )}
            </h3>
            <Arguments call={call} />
          </section>
          <section>
            <h3>Result</h3>
            {call.result !== undefined ? (
              <ResultView result={call.result} name={call.tool} />
            ) : isRunning ? (
              <RunningLine call={live ?? call} />
            ) : (
              <p class="none">
                {call.error === undefined ? 'Not kept: the history is off, or was cleared.' : 'None.'}
              </p>
            )}
            <CutNote call={call} />
          </section>
        </>
      )}
    </article>
  );
}

function WhoAndWhere({ call }: { readonly call: CallReport }): JSX.Element {
  const { agent, client, profile, folder, rule, decision, tokens, code } = call;
  return (
    <Facts
      rows={[
        [
          'Server',
          <PlaceLink key="server" to={['servers', call.server]}>
            {call.server}
          </PlaceLink>,
        ],
        ['Agent', agent === undefined ? undefined : agentText(agent)],
        ['Client', client],
        ['Profile', profile],
        ['Folder', folder],
        ['Began', `${dayOf(call.at)}, ${clockTime(call.at)}`],
        ['Took', call.ms === undefined ? undefined : duration(call.ms)],
        ['Decided by', rule === undefined ? decision : <code key="rule">{rule}</code>],
        ['Tokens', tokens === undefined ? undefined : tokensText(tokens)],
        ['Code', code],
        ['Session', call.session],
      ]}
    />
  );
}

function tokensText({ arguments: sent, result }: NonNullable<CallReport['tokens']>): string {
  return [
    sent === undefined ? undefined : `${count(sent)} of arguments`,
    result === undefined ? undefined : `${count(result)} of result`,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function Arguments({ call }: { readonly call: CallDetail }): JSX.Element {
  const { arguments: args } = call;
  if (args === undefined) return <p class="none">Not kept: the history is off, or was cleared.</p>;
  if (isObject(args) && Object.keys(args).length === 0) return <p class="none">Without arguments.</p>;
  return (
    <div class="arguments">
      <JsonTree value={args} open deep />
    </div>
  );
}

function CutNote({ call }: { readonly call: CallDetail }): JSX.Element | null {
  const { cut } = call;
  if (cut === undefined) return null;
  const parts = [
    cut.arguments === undefined ? undefined : `${count(cut.arguments)} characters of the arguments`,
    cut.result === undefined ? undefined : `${count(cut.result)} characters of the result`,
  ].filter((part) => part !== undefined);
  return <p class="hint">{`The history keeps a part: ${parts.join(' and ')} are left out.`}</p>;
}

/** Opens the tool with the arguments of this call. */
function RepeatButton({ call }: { readonly call: CallDetail }): JSX.Element | null {
  const { store, tries, router } = useApp();
  const tool = store.tools.value.find((each) => each.server === call.server && each.tool === call.tool);
  if (tool === undefined || !isObject(call.arguments)) return null;
  return (
    <Button
      onPress={() => {
        tries.of(tool).form.value.setValue(call.arguments);
        router.go(['tools', tool.server, tool.tool]);
      }}
    >
      Open in Tools
    </Button>
  );
}
