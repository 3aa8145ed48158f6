/** The tools view: all tools, or search results in the ranking that models get, with the reason for each match. */

import { api } from './api.js';
import { h, plural, props, replace } from './dom.js';
import { showError } from './notices.js';
import { panes } from './panes.js';
import { setPlace } from './place.js';
import { store, watch } from './store.js';
import { ToolTry } from './tool-try.js';
import { VirtualList } from './virtual-list.js';

const TYPING_MS = 90;
const MAX_RESULTS = 100;
const ROW_HEIGHT = 58;
/** Includes a line with the reason of the match. */
const FOUND_ROW_HEIGHT = 76;
/** Opened tools keep their input and result; past this limit, the least recently opened idle one is dropped. */
const MAX_KEPT_TRIES = 50;

export function toolsView() {
  const box = h(
    'input.search',
    props({
      type: 'search',
      placeholder: 'Describe what you want to do …',
      autocomplete: 'off',
      spellcheck: false,
      aria: { label: 'Search tools' },
    }),
  );
  const filter = h('select', props({ aria: { label: 'Only one server' } }));
  const countLabel = h('span.counted', props({ role: 'status' }));
  const list = new VirtualList({
    label: 'Tools',
    rowHeight: ROW_HEIGHT,
    render: (item, row) => drawRow(item, row, rowOptions()),
    keyOf: ({ name }) => name,
    fingerprintOf: ({ title, description, deferred, score, why }) =>
      JSON.stringify([title, description, deferred, score, why, rowOptions()]),
    onOpen: (item) => open(item.name),
    empty: () => (box.value.trim() === '' ? (store.loaded ? 'No tools yet.' : 'Looking …') : 'Nothing fits.'),
  });
  const frame = panes({
    head: h('div.head', h('div.head-line', h('h1', 'Tools'), countLabel), h('div.controls', box, filter)),
    list: list.element,
    home: ['tools'],
    empty: 'Select a tool to see its details and try it.',
  });
  let found;
  let searching;
  let timer;
  let opened;
  /** The place in the URL while its tool is not loaded yet. */
  let pendingRoute;
  const tries = new Map();

  /** Returns which columns differ between rows; the others are omitted. */
  function rowOptions() {
    const { tools } = store;
    return {
      server: filter.value === '' && tools.some(({ server }) => server !== tools[0].server),
      deferred: tools.some(({ deferred }) => !deferred),
    };
  }

  function draw() {
    const onlyServer = filter.value;
    const all = found ?? store.tools;
    const items = onlyServer === '' ? all : all.filter(({ server }) => server === onlyServer);
    list.setRowHeight(found === undefined ? ROW_HEIGHT : FOUND_ROW_HEIGHT);
    list.show(
      items.length,
      (at) => items[at],
      ({ name }) => name === opened?.name,
    );
    countLabel.textContent =
      found === undefined ? plural(items.length, 'tool') : plural(items.length, 'match', 'matches');
  }

  function drawFilter() {
    const names = [...new Set(store.tools.map(({ server }) => server))].sort();
    const selected = filter.value;
    replace(
      filter,
      h('option', props({ value: '' }), 'All servers'),
      ...names.map((name) => h('option', props({ value: name }), name)),
    );
    filter.value = names.includes(selected) ? selected : '';
  }

  async function search() {
    searching?.abort();
    const query = box.value.trim();
    if (query === '') {
      found = undefined;
      draw();
      return;
    }
    searching = new AbortController();
    try {
      const { results } = await api(
        'GET',
        `/api/search?q=${encodeURIComponent(query)}&limit=${MAX_RESULTS}`,
        undefined,
        searching.signal,
      );
      found = results.map((each, at) => ({ ...each, place: at + 1 }));
      list.active = -1;
      list.element.scrollTop = 0;
      draw();
    } catch (error) {
      if (error.name !== 'AbortError') showError(error);
    }
  }

  /** Shows a tool; `updateUrl` sets the place in the URL. */
  function open(name, { updateUrl = true } = {}) {
    const tool = store.tools.find((each) => each.name === name);
    if (tool === undefined) return;
    pendingRoute = undefined;
    if (updateUrl) setPlace(['tools', tool.server, tool.tool]);
    const isNew = opened?.name !== name || !frame.element.classList.contains('open');
    opened = tries.get(name) ?? new ToolTry(tool);
    keepTry(opened);
    opened.refresh(tool);
    if (isNew) frame.show(opened.element, true);
    draw();
  }

  function keepTry(toolTry) {
    tries.delete(toolTry.name);
    tries.set(toolTry.name, toolTry);
    if (tries.size <= MAX_KEPT_TRIES) return;
    for (const [name, each] of tries) {
      if (each.isRunning) continue;
      tries.delete(name);
      return;
    }
  }

  function route([server, tool]) {
    pendingRoute = undefined;
    if (tool === undefined) return frame.showList();
    const known = store.tools.find((each) => each.server === server && each.tool === tool);
    if (known === undefined) pendingRoute = [server, tool];
    else open(known.name, { updateUrl: false });
  }

  box.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(search, TYPING_MS);
  });
  box.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') {
      event.preventDefault();
      list.element.focus();
      list.move(0);
    } else if (event.key === 'Enter' && list.length > 0) list.open(Math.max(0, list.active));
  });
  filter.addEventListener('change', draw);
  watch(['tools'], () => {
    drawFilter();
    if (found === undefined) draw();
    else void search();
    opened?.refresh(store.tools.find(({ name }) => name === opened.name));
    if (pendingRoute !== undefined) route(pendingRoute);
  });
  drawFilter();
  draw();
  return {
    element: frame.element,
    focus: () => list.element.focus(),
    search(typed) {
      box.focus();
      if (typed === '') return;
      box.value += typed;
      void search();
    },
    route,
  };
}

function drawRow({ tool, server, description, title, why = [], place, score, deferred }, row, rowOptions) {
  const about = [title === tool ? undefined : title, firstLine(description)];
  replace(
    row,
    h(
      'span.tool-line',
      h('strong', tool),
      ' ',
      deferred && rowOptions.deferred
        ? h('span.tag', props({ title: 'Models find it by search' }), 'by search')
        : '',
      rowOptions.server ? h('span.tool-server', server) : '',
      score === undefined
        ? ''
        : h(
            'span.tool-score',
            props({ title: `Place ${place}, score ${score.toPrecision(3)}` }),
            `${place}.`,
          ),
    ),
    h('span.tool-about', about.filter((part) => part).join(' · ')),
    why.length === 0
      ? ''
      : h(
          'span.tool-why',
          'found in ',
          ...why.flatMap(({ field, words }, at) => [
            at === 0 ? '' : ' · ',
            h('span.reason', h('em', field), ` ${words.join(', ')}`),
          ]),
        ),
  );
}

const firstLine = (text) => (text.length > 300 ? `${text.slice(0, 300)}…` : text).replace(/\s+/g, ' ');
