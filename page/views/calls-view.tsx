/** The calls view: running and past calls with filters and a search, and the detail of one call. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { CallReport } from '../api-types.ts';
import { useApp } from '../app.ts';
import { keyOf } from '../call-log.ts';
import { callStateOf, madeBy, progressOf, shareOf } from '../call-state.ts';
import { useKept } from '../kept.ts';
import { dayOf, duration, exactTime, plural } from '../text.ts';
import { Dot, Segments } from '../ui/bits.tsx';
import { Columns, type Slice } from '../ui/charts.tsx';
import { useNow } from '../ui/now.ts';
import { VirtualList } from '../ui/virtual-list.tsx';
import { CallDetailView } from './call-detail.tsx';
import { type CallSearch, useCallSearch } from './call-search.ts';

const SLICES = 90;
const SLICE_MS = 2_000;
/** The list is redrawn at this rate, independent of the rate of calls. */
const DRAW_MS = 100;
/** The duration bars are scaled to the slowest of this many newest calls. */
const SCALED_CALLS = 300;
const ROW_HEIGHT = 36;

const STATES = [
  ['all', 'all'],
  ['running', 'running'],
  ['failed', 'failed'],
] as const;
type State = (typeof STATES)[number][0];

interface Filter {
  readonly state: State;
  readonly server: string;
  readonly agent: string;
  readonly words: string;
}

const NO_FILTER: Filter = { state: 'all', server: '', agent: '', words: '' };

export function CallsView(): JSX.Element {
  const { store, router } = useApp();
  const filter = useKept<Filter>('calls.filter', NO_FILTER);
  const active = useSignal(-1);
  const version = useThrottledVersion();
  const { state, server, agent, words } = filter.value;
  const live = useMemo(() => {
    const isFiltered = state !== 'all' || server !== '' || agent !== '';
    const { all } = store.calls;
    return isFiltered ? all.filter((call) => isIn(call, filter.value)) : all;
  }, [version, filter.value]);
  const search = useCallSearch(words.trim() === '' ? undefined : { q: words.trim(), state, server, agent });
  const shown = search?.calls ?? live;
  // The log is oldest first, a search newest first.
  const itemAt = (at: number): CallReport =>
    shown[search === undefined ? shown.length - 1 - at : at] as CallReport;
  const longest = longestOf(search === undefined ? shown.slice(-SCALED_CALLS) : shown);
  const [, opened] = router.place.value;
  const agents = useMemo(() => agentsOf(store.calls.all), [version]);
  return (
    <div class={`calls${opened === undefined ? '' : ' panes open'}`}>
      <div class="calls-list master">
        <div class="head">
          <div class="head-line">
            <h1>Calls</h1>
            <span class="counted" role="status">
              {countText(shown, store.calls.running.value, search)}
            </span>
          </div>
          <Strip version={version} />
          <Controls
            filter={filter.value}
            agents={agents}
            onChange={(part) => {
              filter.value = { ...filter.value, ...part };
              active.value = -1;
            }}
          />
        </div>
        <div class="call-row call-heads" aria-hidden="true">
          <span>began</span>
          <span>outcome</span>
          <span>tool</span>
          <span>took</span>
          <span class="session">by</span>
        </div>
        <VirtualList
          label="Calls, newest first"
          rowHeight={ROW_HEIGHT}
          rowClass="call-row"
          length={shown.length}
          itemAt={itemAt}
          keyOf={keyOf}
          isSelected={(call) => keyOf(call) === opened}
          onOpen={(call) => router.go(['calls', keyOf(call)])}
          onEnd={search === undefined ? () => void store.loadOlderCalls().catch(() => {}) : search.more}
          active={active}
          empty={emptyText(state, search)}
          render={(call) => <CallRow call={call} longest={longest} />}
        />
      </div>
      {opened !== undefined && (
        <section class="detail" aria-label="Details">
          <CallDetailView key={opened} id={opened} />
        </section>
      )}
    </div>
  );
}

function countText(shown: readonly CallReport[], running: number, search: CallSearch | undefined): string {
  if (search !== undefined)
    return search.isLoading ? 'searching …' : plural(shown.length, 'match', 'matches');
  return `${plural(shown.length, 'call')}${running === 0 ? '' : `, ${running} running`}`;
}

function emptyText(state: State, search: CallSearch | undefined): string {
  if (search?.isLoading === true) return 'Searching …';
  if (search !== undefined) return 'No call matches.';
  return state === 'all' ? 'No calls yet. Calls of all clients appear here live.' : 'None.';
}

interface ControlsProps {
  readonly filter: Filter;
  readonly agents: readonly string[];
  readonly onChange: (part: Partial<Filter>) => void;
}

function Controls({ filter, agents, onChange }: ControlsProps): JSX.Element {
  const { store } = useApp();
  return (
    <div class="controls wrapping">
      <input
        class="call-search"
        type="search"
        placeholder="Search arguments, results and errors"
        aria-label="Search calls"
        value={filter.words}
        onInput={(event) => onChange({ words: event.currentTarget.value })}
      />
      <Segments
        label="Which calls"
        options={STATES}
        value={filter.state}
        onChoose={(state) => onChange({ state })}
      />
      <select
        aria-label="Only one server"
        value={filter.server}
        onInput={(event) => onChange({ server: event.currentTarget.value })}
      >
        <option value="">All servers</option>
        {store.servers.value.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {agents.length > 0 && (
        <select
          aria-label="Only one agent"
          value={filter.agent}
          onInput={(event) => onChange({ agent: event.currentTarget.value })}
        >
          <option value="">All agents</option>
          {agents.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

function agentsOf(calls: readonly CallReport[]): readonly string[] {
  return [...new Set(calls.flatMap(({ agent }) => (agent === undefined ? [] : [agent.name])))].sort();
}

function isIn({ outcome, server, agent }: CallReport, filter: Filter): boolean {
  if (filter.server !== '' && server !== filter.server) return false;
  if (filter.agent !== '' && agent?.name !== filter.agent) return false;
  if (filter.state === 'all') return true;
  return filter.state === 'running' ? outcome === undefined : outcome !== undefined && outcome !== 'ok';
}

/** Returns the version of the calls, delayed so that a busy gateway is drawn at a fixed rate. */
function useThrottledVersion(): number {
  const { store } = useApp();
  const shown = useSignal(store.calls.version.peek());
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = store.calls.version.subscribe((version) => {
      if (version === shown.peek()) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        shown.value = store.calls.version.peek();
      }, DRAW_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
  return shown.value;
}

/** Rounded up to a power of two, so that a new call rarely redraws every bar. */
function longestOf(calls: readonly CallReport[]): number {
  let most = 1;
  for (const { ms = 0 } of calls.slice(0, SCALED_CALLS)) most = Math.max(most, ms);
  return 2 ** Math.ceil(Math.log2(most));
}

/** Calls of the last three minutes; moves with time, also without new calls. */
function Strip({ version }: { readonly version: number }): JSX.Element {
  const { store } = useApp();
  const now = useNow(SLICE_MS);
  const slices = useMemo(() => slicesOf(store.calls.all, Math.max(now, Date.now())), [now, version]);
  return (
    <div class="strip">
      <Columns slices={slices} width={900} height={44} label="Calls of the last three minutes" />
      <div class="strip-ends">
        <span>3 minutes ago</span>
        <span>now</span>
      </div>
    </div>
  );
}

function slicesOf(calls: readonly CallReport[], now: number): readonly Slice[] {
  const begin = now - SLICES * SLICE_MS;
  const slices = Array.from({ length: SLICES }, () => ({ good: 0, bad: 0 }));
  for (let at = calls.length - 1; at >= 0; at -= 1) {
    const call = calls[at];
    if (call === undefined || call.at < begin) break;
    const slice = slices[Math.min(SLICES - 1, Math.floor((call.at - begin) / SLICE_MS))];
    if (slice === undefined) continue;
    if (call.outcome === undefined || call.outcome === 'ok') slice.good += 1;
    else slice.bad += 1;
  }
  return slices;
}

function CallRow({ call, longest }: { readonly call: CallReport; readonly longest: number }): JSX.Element {
  const { store } = useApp();
  const { tone, label } = callStateOf(store, call);
  const isWaiting = store.waitingCalls.value.has(call.id);
  const done = shareOf(call);
  const isUnknown = call.ms === undefined && done === undefined;
  const share = call.ms === undefined ? (done ?? 0.3) : Math.max(0.008, Math.sqrt(call.ms / longest));
  const isToday = Date.now() - call.at < 86_400_000 && dayOf(call.at) === dayOf(Date.now());
  return (
    <>
      <span class="time" title={dayOf(call.at)}>
        {isToday ? exactTime(call.at) : dayOf(call.at)}
      </span>
      <span class="outcome" data-tone={tone} title={call.code}>
        <Dot tone={tone} />
        {call.code === undefined || call.outcome === 'cancelled'
          ? label
          : call.code.toLowerCase().replaceAll('_', ' ')}
      </span>
      <span class="what">
        <strong>{call.tool}</strong>
        <span>{call.server}</span>
      </span>
      <span class="took">
        {isWaiting ? (
          <span />
        ) : (
          <span class={isUnknown ? 'bar unknown' : 'bar'} data-tone={tone}>
            <span style={{ width: `${(Math.min(1, Math.max(0, share)) * 100).toFixed(1)}%` }} />
          </span>
        )}
        <span>{call.ms === undefined ? progressOf(call) : duration(call.ms)}</span>
      </span>
      <span class="session">{madeBy(call) ?? (call.ref === undefined ? call.session : 'this page')}</span>
    </>
  );
}
