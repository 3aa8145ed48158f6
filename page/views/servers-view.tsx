/** The servers view: a list by urgency with state, latency and token cost, and the detail of one server. */

import type { JSX } from 'preact';
import type { ServerReport } from '../api-types.ts';
import { useApp } from '../app.ts';
import { useKept } from '../kept.ts';
import { GROUP_LABELS, GROUPS, groupOf, statusOf } from '../states.ts';
import type { Store } from '../store.ts';
import { count, duration, plural } from '../text.ts';
import { Callout, Dot } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Bars, Share } from '../ui/charts.tsx';
import { moveInRows, Panes } from '../ui/panes.tsx';
import { PlaceLink } from '../ui/place-link.tsx';
import { ADDING_KEY, ServerAdd } from './server-add.tsx';
import { ServerDetail } from './server-detail.tsx';
import { ServerIcon } from './server-icon.tsx';

/** Wide enough for both panes. */
const BOTH_PANES = '(min-width: 900px)';
/** A list of this many servers can be filtered. */
const MIN_FILTERED = 9;

export function ServersView(): JSX.Element {
  const { store, router } = useApp();
  const isAdding = useKept(ADDING_KEY, false);
  const filter = useKept('servers.filter', '');
  const servers = store.servers.value;
  const [, place] = router.place.value;
  const sorted = GROUPS.flatMap((group) => servers.filter((server) => groupOf(server) === group));
  const isKnown = servers.some(({ name }) => name === place);
  const usual = matchMedia(BOTH_PANES).matches ? sorted[0]?.name : undefined;
  const selected = isKnown || !store.loaded.value ? (place ?? usual) : usual;
  const wanted = filter.value.trim().toLowerCase();
  const shown = sorted.filter(({ name }) => name.toLowerCase().includes(wanted));
  const tabStop = shown.some(({ name }) => name === selected) ? selected : shown[0]?.name;
  const head = (
    <div class="head">
      <div class="head-line">
        <h1>Servers</h1>
        <Button
          kind="primary"
          onPress={() => {
            isAdding.value = true;
          }}
        >
          Add a server
        </Button>
      </div>
      <Figures store={store} />
      {store.problems.value.length > 0 && <Problems store={store} />}
      {servers.length >= MIN_FILTERED && (
        <input
          type="search"
          aria-label="Filter servers"
          placeholder="Filter by name"
          value={filter.value}
          onInput={(event) => {
            filter.value = event.currentTarget.value;
          }}
        />
      )}
    </div>
  );
  const list = (
    <div class="server-rows" onKeyDown={(event) => moveInRows(event, '.server-row')}>
      {GROUPS.map((group) => ({ group, own: shown.filter((server) => groupOf(server) === group) }))
        .filter(({ own }) => own.length > 0)
        .map(({ group, own }) => (
          <section key={group} class="server-group" data-group={group}>
            <h2 class="group-name">{`${GROUP_LABELS[group]} · ${own.length}`}</h2>
            <ul aria-label={GROUP_LABELS[group]}>
              {own.map((server) => (
                <li key={server.name}>
                  <ServerRow
                    server={server}
                    isSelected={selected === server.name}
                    isTabStop={tabStop === server.name}
                  />
                </li>
              ))}
            </ul>
          </section>
        ))}
      {shown.length === 0 && (
        <div class="welcome">
          <p>
            {!store.loaded.value ? 'Loading …' : wanted === '' ? 'No server is configured yet.' : 'None.'}
          </p>
          {store.loaded.value && wanted === '' && (
            <p class="hint">Add one here, or with plugboard add or plugboard import.</p>
          )}
        </div>
      )}
    </div>
  );
  return (
    <>
      <Panes
        head={head}
        list={list}
        home={['servers']}
        isOpen={place !== undefined && isKnown}
        detailKey={selected}
        detail={selected === undefined ? undefined : <ServerDetail key={selected} name={selected} />}
        empty="Select a server to see its details."
      />
      {isAdding.value && (
        <ServerAdd
          onClose={() => {
            isAdding.value = false;
          }}
        />
      )}
    </>
  );
}

function Problems({ store }: { readonly store: Store }): JSX.Element {
  return (
    <div class="problems">
      {store.problems.value.map(({ file, line, message, hint }) => (
        <Callout key={`${file}:${line}:${message}`} kind="warn">
          <p>{message}</p>
          <p class="hint">
            {hint !== undefined && `${hint} `}
            <code>{line === undefined ? file : `${file}:${line}`}</code>
          </p>
        </Callout>
      ))}
    </div>
  );
}

/** Numbers about all servers, each with a caption that explains it. */
export function Figures({ store }: { readonly store: Store }): JSX.Element {
  const servers = store.servers.value;
  const stats = [...store.stats.value.values()];
  const { all, given } = store.definitionTokens.value;
  const tools = store.tools.value.length;
  // An idle server is ready: its first call starts it.
  const ready = servers.filter(({ status }) => status === 'connected' || status === 'idle').length;
  const calls = stats.reduce((sum, each) => sum + each.calls, 0);
  const failed = stats.reduce((sum, each) => sum + each.failed, 0);
  const saves = all > given;
  const cost = saves
    ? `Definitions of tools take up context of a model: it gets ${count(given)} tokens, and searches for the rest`
    : 'Definitions of tools take up context of a model';
  return (
    <div class="summary">
      <Figure
        number={String(ready)}
        label={`of ${servers.length} ready`}
        title="Connected, or started by the first call"
      />
      <Figure number={count(tools)} label={tools === 1 ? 'tool' : 'tools'} />
      <Figure
        number={count(saves ? given : all)}
        label={saves ? `of ${count(all)} tokens` : 'tokens of context'}
        title={cost}
      />
      <Figure
        number={count(calls)}
        label={failed > 0 ? `calls, ${count(failed)} failed` : calls === 1 ? 'call' : 'calls'}
      />
    </div>
  );
}

function Figure(props: {
  readonly number: string;
  readonly label: string;
  readonly title?: string;
}): JSX.Element {
  const { number, label, title } = props;
  return (
    <div class="figure" title={title}>
      <strong>{number}</strong> <span>{label}</span>
    </div>
  );
}

export interface ServerRowProps {
  readonly server: ServerReport;
  readonly isSelected: boolean;
  /** Only one row is a tab stop; the arrow keys move between rows. */
  readonly isTabStop: boolean;
}

export function ServerRow({ server, isSelected, isTabStop }: ServerRowProps): JSX.Element {
  const { name, status, transport, scope, tools } = server;
  const { tone, label } = statusOf(status);
  return (
    <PlaceLink
      class="server-row"
      to={['servers', name]}
      server={name}
      tabIndex={isTabStop ? 0 : -1}
      current={isSelected}
    >
      <ServerIcon server={server} />
      <span class="server-name">
        <strong>{name}</strong>{' '}
        <span class="server-word" data-tone={tone}>
          <Dot tone={tone} />
          {label}
        </span>
      </span>{' '}
      <span class="server-meta">{[transport, scope, plural(tools, 'tool')].join(' · ')}</span>
      <RowCharts name={name} />
    </PlaceLink>
  );
}

/** Latency and token cost, each only if there is data. */
function RowCharts({ name }: { readonly name: string }): JSX.Element {
  const { store } = useApp();
  const stats = store.stats.value;
  const { p50, recent = [], definitionTokens = 0 } = stats.get(name) ?? {};
  const most = Math.max(1, ...[...stats.values()].map((each) => each.definitionTokens));
  return (
    <>
      {p50 !== undefined && (
        <span class="server-speed">
          <Bars
            values={recent}
            width={64}
            height={18}
            slots={24}
            label={`Half of the calls take less than ${duration(p50)}`}
          />
          <span>{duration(p50)}</span>
        </span>
      )}
      {definitionTokens > 0 && (
        <span class="server-cost">
          <Share
            part={definitionTokens}
            whole={most}
            width={64}
            label={`Definitions cost ${definitionTokens} tokens`}
          />
          <span>{`${count(definitionTokens)} tok`}</span>
        </span>
      )}
    </>
  );
}
