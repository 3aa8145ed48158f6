/** The clients view: who is connected, and for one client its sessions, last calls and budgets. */

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ClientReport } from '../api-types.ts';
import { useApp } from '../app.ts';
import { useKept } from '../kept.ts';
import type { Store } from '../store.ts';
import { plural } from '../text.ts';
import { Dot } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { moveInRows, Panes } from '../ui/panes.tsx';
import { PlaceLink } from '../ui/place-link.tsx';
import { ClientDetail } from './client-detail.tsx';
import { CONNECTING_KEY, ConnectAgent } from './connect-agent.tsx';

/** Sessions of earlier versions open and end without an event. */
const REFRESH_MS = 5_000;
/** A gateway may have thousands of clients; the filter finds the others. */
const MAX_ROWS = 200;
/** The place of clients without a name; a name is never empty. */
const UNNAMED = '';
const UNNAMED_PLACE = 'without-a-name';
const BOTH_PANES = '(min-width: 900px)';

export function ClientsView(): JSX.Element {
  const { store, router } = useApp();
  const filter = useKept('clients.filter', '');
  const isConnecting = useKept(CONNECTING_KEY, false);
  useEffect(() => {
    const refresh = (): void => void store.loadClients().catch(() => {});
    refresh();
    const timer = setInterval(() => {
      if (!document.hidden && store.link.value === 'live') refresh();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const clients = allClients(store);
  const [, place] = router.place.value;
  const usual = matchMedia(BOTH_PANES).matches ? clients[0] : undefined;
  const routed = clients.find(({ name }) => placeOf(name) === place);
  const selected = place === undefined ? usual : routed;
  const wanted = filter.value.trim().toLowerCase();
  const found = clients.filter(({ name, profile = '' }) =>
    `${name} ${profile}`.toLowerCase().includes(wanted),
  );
  const shown = found.slice(0, MAX_ROWS);
  const tabStop = shown.includes(selected as ClientReport) ? selected : shown[0];
  const sessions = store.connectedClients.value.length;
  return (
    <>
      {isConnecting.value && (
        <ConnectAgent
          onClose={() => {
            isConnecting.value = false;
          }}
        />
      )}
      <Panes
        head={
          <div class="head">
            <div class="head-line">
              <h1>Clients</h1>
              <span class="counted" role="status">
                {sessions === 0 ? 'none connected' : `${plural(sessions, 'session')} open`}
              </span>
              <Button
                kind="primary"
                onPress={() => {
                  isConnecting.value = true;
                }}
              >
                Connect an agent
              </Button>
            </div>
            <input
              class="client-filter"
              type="search"
              placeholder="Filter by name or profile"
              aria-label="Filter clients"
              value={filter.value}
              onInput={(event) => {
                filter.value = event.currentTarget.value;
              }}
            />
          </div>
        }
        list={
          <div class="server-rows" onKeyDown={(event) => moveInRows(event, '.client-row')}>
            <ul aria-label="Clients">
              {shown.map((client) => (
                <li key={client.name}>
                  <ClientRow
                    client={client}
                    isSelected={client === selected}
                    isTabStop={client === tabStop}
                  />
                </li>
              ))}
            </ul>
            {found.length > shown.length && (
              <p class="none">{`${found.length - shown.length} more. Filter to find them.`}</p>
            )}
            {found.length === 0 && (
              <EmptyList isFiltered={wanted !== ''} isLoaded={store.clientsLoaded.value} />
            )}
          </div>
        }
        home={['clients']}
        isOpen={routed !== undefined}
        detailKey={selected?.name}
        detail={selected === undefined ? undefined : <ClientDetail key={selected.name} client={selected} />}
        empty="Select a client to see its calls and budgets."
      />
    </>
  );
}

function EmptyList({
  isFiltered,
  isLoaded,
}: {
  readonly isFiltered: boolean;
  readonly isLoaded: boolean;
}): JSX.Element {
  return (
    <div class="welcome">
      <p>{isFiltered ? 'None.' : isLoaded ? 'No client has connected yet.' : 'Loading …'}</p>
      {!isFiltered && isLoaded && <p class="hint">Connect an agent to see its calls here.</p>}
    </div>
  );
}

function placeOf(name: string): string {
  return name === UNNAMED ? UNNAMED_PLACE : name;
}

/** Returns the clients: connected ones first, then those that called last. Clients without a name are one entry. */
function allClients({ clients, connectedClients }: Store): readonly ClientReport[] {
  const unnamed = connectedClients.value.filter(({ client }) => client === undefined).length;
  const all: readonly ClientReport[] =
    unnamed === 0
      ? clients.value
      : [...clients.value, { name: UNNAMED, sessions: unnamed, recognisedBy: [], calls: 0, failed: 0 }];
  return all.toSorted(
    (a, b) => Number(b.sessions > 0) - Number(a.sessions > 0) || (b.last ?? 0) - (a.last ?? 0),
  );
}

interface ClientRowProps {
  readonly client: ClientReport;
  readonly isSelected: boolean;
  readonly isTabStop: boolean;
}

function ClientRow({ client, isSelected, isTabStop }: ClientRowProps): JSX.Element {
  const { store } = useApp();
  const { name, profile, sessions, calls, failed, problem } = client;
  const { tone, label } =
    problem !== undefined
      ? ({ tone: 'bad', label: 'refused' } as const)
      : sessions > 0
        ? ({ tone: 'good', label: plural(sessions, 'session') } as const)
        : ({ tone: 'calm', label: 'not connected' } as const);
  const agents = store.connectedClients.value
    .filter((each) => (each.client ?? UNNAMED) === name && each.agent !== undefined)
    .map(({ agent }) => agent?.name);
  const meta = [
    ...new Set(agents),
    profile ?? 'all servers',
    ...(calls > 0 ? [`${plural(calls, 'call')}${failed > 0 ? `, ${failed} failed` : ''}`] : []),
  ];
  return (
    <PlaceLink
      class="server-row client-row"
      to={['clients', placeOf(name)]}
      client={name}
      tabIndex={isTabStop ? 0 : -1}
      current={isSelected}
    >
      <Dot tone={tone} />
      <span class="server-name">
        <strong>{name === UNNAMED ? 'Without a name' : name}</strong>{' '}
        <span class="server-word" data-tone={tone}>
          {label}
        </span>
      </span>{' '}
      <span class="server-meta">{meta.join(' · ')}</span>
    </PlaceLink>
  );
}
