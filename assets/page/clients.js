/** The clients view: who is connected, and for one client its sessions, last calls and budgets; revokes its token. */

import { ClientDetail } from './client-detail.js';
import { h, plural, props, replace } from './dom.js';
import { panes } from './panes.js';
import { currentPlace, setPlace } from './place.js';
import { loadClients, store, watch } from './store.js';

/** Sessions open and end without an event. */
const REFRESH_MS = 5_000;
/** A gateway may have thousands of clients; the filter finds the others. */
const MAX_ROWS = 200;
/** The place of clients without a name; a name is never empty. */
const UNNAMED = '';

export function clientsView() {
  const rows = h('div.server-rows', props({ role: 'list' }));
  const countLabel = h('span.counted', props({ role: 'status' }));
  const filter = h(
    'input.client-filter',
    props({ type: 'search', placeholder: 'Filter by name or profile', aria: { label: 'Filter clients' } }),
  );
  const frame = panes({
    head: h('div.head', h('div.head-line', h('h1', 'Clients'), countLabel), filter),
    list: rows,
    home: ['clients'],
    empty: 'Select a client to see its calls and budgets.',
  });
  let selected;
  let detail;

  function select(name, { updateUrl = true, isNew = true } = {}) {
    if (updateUrl) setPlace(['clients', ...(name === UNNAMED ? [] : [name])]);
    if (selected !== name) detail = new ClientDetail(name, clientNamed);
    selected = name;
    frame.show(detail.element, isNew);
    detail.update();
    drawRows();
  }

  function drawRows() {
    const focused = document.activeElement?.dataset?.client;
    const wanted = filter.value.trim().toLowerCase();
    const found = allClients().filter(({ name, profile = '' }) =>
      `${name} ${profile}`.toLowerCase().includes(wanted),
    );
    const shown = found.slice(0, MAX_ROWS);
    const tabStop = shown.some(({ name }) => name === selected) ? selected : shown[0]?.name;
    replace(
      rows,
      ...shown.map((client) =>
        h(
          'div',
          props({ role: 'listitem' }),
          row(client, { isSelected: selected === client.name, isTabStop: tabStop === client.name, select }),
        ),
      ),
      found.length > shown.length
        ? h(
            'p.none',
            props({ role: 'listitem' }),
            `${found.length - shown.length} more. Filter to find them.`,
          )
        : '',
      found.length === 0 ? emptyList(wanted) : '',
    );
    const { length } = store.connectedClients;
    countLabel.textContent = length === 0 ? 'none connected' : `${plural(length, 'session')} open`;
    if (focused !== undefined) rows.querySelector(`[data-client="${CSS.escape(focused)}"]`)?.focus();
  }

  function draw() {
    if (!frame.element.isConnected) return;
    if (selected !== undefined && store.clientsLoaded && clientNamed(selected) === undefined) {
      if (currentPlace()[1] === selected) setPlace(['clients'], { replace: true });
      selected = undefined;
      detail = undefined;
      frame.clear();
    }
    drawRows();
    const [first] = allClients();
    // Selects a client initially if both panes fit.
    if (selected === undefined && first !== undefined && matchMedia('(min-width: 900px)').matches)
      select(first.name, { updateUrl: false, isNew: false });
    detail?.update();
  }

  rows.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const all = [...rows.querySelectorAll('.client-row')];
    all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + step))]?.focus();
  });
  filter.addEventListener('input', drawRows);
  watch(['clients'], draw);
  watch(['calls'], () => {
    if (frame.element.isConnected) detail?.update();
  });
  const refresh = () => void loadClients().catch(() => {});
  setInterval(() => {
    if (frame.element.isConnected && !document.hidden && store.connected) refresh();
  }, REFRESH_MS);
  return {
    element: frame.element,
    draw() {
      draw();
      refresh();
    },
    focus: () => rows.querySelector('.client-row[tabindex="0"]')?.focus(),
    /** Shows the place in the URL. */
    route([name]) {
      if (name === undefined) frame.showList();
      else if (clientNamed(name) !== undefined || !store.clientsLoaded) select(name, { updateUrl: false });
    },
  };
}

function emptyList(wanted) {
  return h(
    'div.welcome',
    props({ role: 'listitem' }),
    h('p', wanted !== '' ? 'None.' : store.clientsLoaded ? 'No client has connected yet.' : 'Looking …'),
    wanted === '' && store.clientsLoaded
      ? h('p.hint', 'Give an agent its own name with plugboard token add <name>.')
      : '',
  );
}

/** Returns the clients: connected ones first, then those that called last. Clients without a name are one entry. */
function allClients() {
  const unnamed = store.connectedClients.filter(({ client }) => client === undefined).length;
  const all =
    unnamed === 0
      ? store.clients
      : [...store.clients, { name: UNNAMED, sessions: unnamed, recognisedBy: [], calls: 0, failed: 0 }];
  return all.toSorted((a, b) => (b.sessions > 0) - (a.sessions > 0) || (b.last ?? 0) - (a.last ?? 0));
}

function clientNamed(name) {
  return allClients().find((each) => each.name === name);
}

/** Renders a row; only one is a tab stop (roving tabindex), the arrow keys move between rows. */
function row(client, { isSelected, isTabStop, select }) {
  const { name, profile, sessions, calls, failed, problem } = client;
  const [tone, word] =
    problem !== undefined
      ? ['bad', 'refused']
      : sessions > 0
        ? ['good', plural(sessions, 'session')]
        : ['calm', 'not connected'];
  const meta = [
    profile === undefined ? 'all servers' : profile,
    ...(calls > 0 ? [`${plural(calls, 'call')}${failed > 0 ? `, ${failed} failed` : ''}`] : []),
  ];
  return h(
    'button.server-row.client-row',
    props({
      type: 'button',
      data: { client: name },
      tabIndex: isTabStop ? 0 : -1,
      aria: { current: String(isSelected) },
      onclick: () => select(name),
    }),
    h(`span.dot.${tone}`, props({ aria: { hidden: 'true' } })),
    h(
      'span.server-name',
      h('strong', name === UNNAMED ? 'Without a name' : name),
      ' ',
      h('span.server-word', props({ data: { tone } }), word),
    ),
    ' ',
    h('span.server-meta', meta.join(' · ')),
  );
}
