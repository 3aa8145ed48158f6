/** The servers view: a list with state, latency and token cost, and the detail of one server. */

import { bars, share } from './charts.js';
import { button, count, duration, h, plural, props, replace } from './dom.js';
import { panes } from './panes.js';
import { currentPlace, setPlace } from './place.js';
import { openAddDialog } from './server-add.js';
import { ServerDetail } from './server-detail.js';
import { STATUS } from './states.js';
import { store, watch } from './store.js';

export function serversView() {
  const rows = h('div.server-rows', props({ role: 'list' }));
  const summary = h('div.summary');
  const problems = h('div.problems');
  const frame = panes({
    head: h(
      'div.head',
      h(
        'div.head-line',
        h('h1', 'Servers'),
        button('Add a server', () => openAddDialog((name) => select(name)), { kind: 'primary' }),
      ),
      summary,
      problems,
    ),
    list: rows,
    home: ['servers'],
    empty: 'Select a server to see its details.',
  });
  let detail;
  let selected;

  /** Shows a server; `updateUrl` sets the place in the URL, `isNew` is passed to `panes().show`. */
  function select(name, { updateUrl = true, isNew = true } = {}) {
    if (updateUrl) setPlace(['servers', name]);
    if (detail !== undefined && selected === name) {
      frame.show(detail.element, isNew);
      // The entry can change without a change of state.
      void detail.describe();
      return;
    }
    selected = name;
    detail = new ServerDetail(name, () => {
      clearSelection();
      drawRows();
    });
    frame.show(detail.element, isNew);
    drawRows();
  }

  function clearSelection() {
    if (currentPlace()[1] === selected) setPlace(['servers'], { replace: true });
    selected = undefined;
    detail = undefined;
    frame.clear();
  }

  function drawRows() {
    const focused = document.activeElement?.dataset?.server;
    const tabStop = store.servers.some(({ name }) => name === selected) ? selected : store.servers[0]?.name;
    replace(
      rows,
      ...store.servers.map((server) =>
        h(
          'div',
          props({ role: 'listitem' }),
          row(server, { isSelected: selected === server.name, isTabStop: tabStop === server.name, select }),
        ),
      ),
    );
    if (store.servers.length === 0) {
      rows.append(
        h(
          'div.welcome',
          props({ role: 'listitem' }),
          h('p', store.loaded ? 'No server is configured yet.' : 'Looking …'),
          store.loaded ? h('p.hint', 'Add one here, or with plugboard add or plugboard import.') : '',
        ),
      );
    }
    if (focused !== undefined) rows.querySelector(`[data-server="${CSS.escape(focused)}"]`)?.focus();
  }

  function draw() {
    if (!frame.element.isConnected) return;
    drawRows();
    replace(summary, ...figures());
    replace(
      problems,
      ...store.problems.map(({ file, line, message, hint }) =>
        h(
          'div.callout.warn',
          h('p', message),
          h('p.hint', hint ?? '', ' ', h('code', line === undefined ? file : `${file}:${line}`)),
        ),
      ),
    );
    if (selected !== undefined && store.loaded && !store.servers.some(({ name }) => name === selected)) {
      clearSelection();
    }
    // Selects a server initially if both panes fit.
    if (selected === undefined && store.servers.length > 0 && matchMedia('(min-width: 900px)').matches) {
      const worst =
        store.servers.find(({ status }) => ['bad', 'warn'].includes(STATUS[status]?.[0])) ?? store.servers[0];
      select(worst.name, { updateUrl: false, isNew: false });
    }
    detail?.update();
  }
  rows.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const all = [...rows.querySelectorAll('.server-row')];
    all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + step))]?.focus();
  });
  watch(['servers', 'stats', 'logins', 'tools'], draw);
  return {
    element: frame.element,
    draw,
    select,
    focus: () => rows.querySelector('.server-row[tabindex="0"]')?.focus(),
    /** Shows the place in the URL. */
    route([name]) {
      if (name === undefined) frame.showList();
      else if (store.servers.some((each) => each.name === name) || !store.loaded)
        select(name, { updateUrl: false });
    },
  };
}

function figures() {
  const { servers, stats, definitionTokens, tools } = store;
  // An idle server is ready: its first call starts it.
  const ready = servers.filter(({ status }) => status === 'connected' || status === 'idle').length;
  const calls = [...stats.values()].reduce((sum, each) => sum + each.calls, 0);
  const failed = [...stats.values()].reduce((sum, each) => sum + each.failed, 0);
  const saved = definitionTokens.all > definitionTokens.given;
  return [
    figure(`${ready}`, `of ${servers.length} ready`, 'Connected, or started by the first call'),
    figure(count(tools.length), tools.length === 1 ? 'tool' : 'tools'),
    figure(
      count(saved ? definitionTokens.given : definitionTokens.all),
      saved ? `of ${count(definitionTokens.all)} tokens` : 'tokens',
      saved
        ? `Tokens that tool definitions cost a model: it is given ${count(definitionTokens.given)} tokens, and searches for the rest`
        : 'Tokens that tool definitions cost a model',
    ),
    figure(count(calls), failed === 0 ? (calls === 1 ? 'call' : 'calls') : `calls, ${count(failed)} failed`),
  ];
}

function figure(number, label, title) {
  return h('div.figure', props({ title }), h('strong', number), ' ', h('span', label));
}

/** Renders a row; only one is a tab stop (roving tabindex), the arrow keys move between rows. */
function row({ name, status, transport, scope, tools }, { isSelected, isTabStop, select }) {
  const [tone, word] = STATUS[status] ?? ['calm', status];
  return h(
    'button.server-row',
    props({
      type: 'button',
      data: { server: name },
      tabIndex: isTabStop ? 0 : -1,
      aria: { current: String(isSelected) },
      onclick: () => select(name),
    }),
    h(`span.dot.${tone}`, props({ aria: { hidden: 'true' } })),
    h('span.server-name', h('strong', name), ' ', h('span.server-word', props({ data: { tone } }), word)),
    ' ',
    h('span.server-meta', [transport, scope, plural(tools, 'tool')].join(' · ')),
    ...charts(name),
  );
}

/** Renders latency and token cost, each only if there is data. */
function charts(name) {
  const stats = store.stats.get(name);
  const { p50, recent = [], definitionTokens: tokens = 0 } = stats ?? {};
  const most = Math.max(1, ...[...store.stats.values()].map((each) => each.definitionTokens));
  return [
    p50 === undefined
      ? ''
      : h(
          'span.server-speed',
          bars(recent, {
            width: 96,
            height: 22,
            slots: 32,
            label: `Half of the calls take less than ${duration(p50)}`,
          }),
          h('span', duration(p50)),
        ),
    tokens === 0
      ? ''
      : h(
          'span.server-cost',
          share(tokens, most, { width: 96, label: `Definitions cost ${tokens} tokens` }),
          h('span', `${count(tokens)} tok`),
        ),
  ];
}
