/** The view of servers: each with its state, its speed and its cost, and one of them in detail. */

import { bars, share } from './charts.js';
import { button, count, duration, h, plural, props, replace } from './dom.js';
import { panes } from './panes.js';
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
        button('Add a server', () => openAddDialog(select), { kind: 'primary' }),
      ),
      summary,
      problems,
    ),
    list: rows,
    empty: 'Choose a server to see how it is.',
  });
  let detail;
  let selected;

  function select(name, { focus = true } = {}) {
    selected = name;
    detail = new ServerDetail(name, () => {
      selected = undefined;
      detail = undefined;
      frame.clear();
      drawRows();
    });
    frame.show(detail.element, focus);
    drawRows();
  }

  function drawRows() {
    const focused = document.activeElement?.dataset?.server;
    replace(rows, ...store.servers.map((server) => row(server, selected === server.name, select)));
    if (store.servers.length === 0) {
      rows.append(
        h(
          'div.welcome',
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
      selected = undefined;
      detail = undefined;
      frame.clear();
    }
    // Where both fit, something is shown from the beginning.
    if (selected === undefined && store.servers.length > 0 && matchMedia('(min-width: 900px)').matches) {
      const worst =
        store.servers.find(({ status }) => ['bad', 'warn'].includes(STATUS[status]?.[0])) ?? store.servers[0];
      select(worst.name, { focus: false });
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
  return { element: frame.element, draw, select, focus: () => rows.querySelector('.server-row')?.focus() };
}

function figures() {
  const { servers, stats, definitionTokens, tools } = store;
  const connected = servers.filter(({ status }) => status === 'connected').length;
  const calls = [...stats.values()].reduce((sum, each) => sum + each.calls, 0);
  const failed = [...stats.values()].reduce((sum, each) => sum + each.failed, 0);
  const saved = definitionTokens.all > definitionTokens.given;
  return [
    figure(`${connected}`, `of ${servers.length} connected`),
    figure(count(tools.length), tools.length === 1 ? 'tool' : 'tools'),
    figure(
      count(saved ? definitionTokens.given : definitionTokens.all),
      saved ? `of ${count(definitionTokens.all)} tokens given` : 'tokens of definitions',
    ),
    figure(count(calls), failed === 0 ? (calls === 1 ? 'call' : 'calls') : `calls, ${count(failed)} failed`),
  ];
}

function figure(number, label) {
  return h('div.figure', h('strong', number), h('span', label));
}

function row({ name, status, transport, scope, tools }, isSelected, select) {
  const [tone, word] = STATUS[status] ?? ['calm', status];
  return h(
    'button.server-row',
    props({
      type: 'button',
      data: { server: name },
      aria: { current: String(isSelected) },
      onclick: () => select(name),
    }),
    h(`span.dot.${tone}`, props({ title: word })),
    h('span.server-name', h('strong', name), h('span.server-word', props({ data: { tone } }), word)),
    h('span.server-meta', [transport, scope, plural(tools, 'tool')].join(' · ')),
    ...charts(name),
  );
}

/** Only what there is to show: a server that was never called has no speed. */
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
