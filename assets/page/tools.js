/** The view of tools: all of them, or those that fit what is typed, ranked as for a model and with the reason. */

import { api } from './api.js';
import { h, plural, props, replace } from './dom.js';
import { failed } from './notices.js';
import { panes } from './panes.js';
import { namePlace } from './place.js';
import { store, watch } from './store.js';
import { ToolTry } from './tool-try.js';
import { VirtualList } from './virtual-list.js';

const TYPING_MS = 90;
const MAX_RESULTS = 100;
const ROW_HEIGHT = 58;
/** With a line for the reason. */
const FOUND_ROW_HEIGHT = 76;
/** Tools that were opened keep their form and answer; the oldest that is not running makes room. */
const MAX_KEPT_TRIES = 50;

export function toolsView() {
  const box = h(
    'input.search',
    props({
      type: 'search',
      placeholder: 'Say what you want to do …',
      autocomplete: 'off',
      spellcheck: false,
      aria: { label: 'Search tools' },
    }),
  );
  const filter = h('select', props({ aria: { label: 'Only of one server' } }));
  const counted = h('span.counted', props({ role: 'status' }));
  const list = new VirtualList({
    label: 'Tools',
    rowHeight: ROW_HEIGHT,
    render: (item, row) => drawRow(item, row, showing()),
    keyOf: ({ name }) => name,
    printOf: ({ title, description, deferred, score, why }) =>
      JSON.stringify([title, description, deferred, score, why, showing()]),
    onOpen: (item) => open(item.name),
    empty: () =>
      box.value.trim() === '' ? (store.loaded ? 'No tools are known yet.' : 'Looking …') : 'Nothing fits.',
  });
  const frame = panes({
    head: h('div.head', h('div.head-line', h('h1', 'Tools'), counted), h('div.controls', box, filter)),
    list: list.element,
    home: ['tools'],
    empty: 'Choose a tool to read about it and to try it.',
  });
  let found;
  let searching;
  let timer;
  let opened;
  /** What an address names before the tools are there. */
  let wanted;
  const tries = new Map();

  /** Rows have only what tells them apart. */
  function showing() {
    const { tools } = store;
    return {
      server: filter.value === '' && tools.some(({ server }) => server !== tools[0].server),
      deferred: tools.some(({ deferred }) => !deferred),
    };
  }

  function draw() {
    const of = filter.value;
    const all = found ?? store.tools;
    const items = of === '' ? all : all.filter(({ server }) => server === of);
    list.setRowHeight(found === undefined ? ROW_HEIGHT : FOUND_ROW_HEIGHT);
    list.show(
      items.length,
      (at) => items[at],
      ({ name }) => name === opened?.name,
    );
    counted.textContent =
      found === undefined ? plural(items.length, 'tool') : plural(items.length, 'match', 'matches');
  }

  function drawFilter() {
    const names = [...new Set(store.tools.map(({ server }) => server))].sort();
    const now = filter.value;
    replace(
      filter,
      h('option', props({ value: '' }), 'All servers'),
      ...names.map((name) => h('option', props({ value: name }), name)),
    );
    filter.value = names.includes(now) ? now : '';
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
      if (error.name !== 'AbortError') failed(error);
    }
  }

  /** `place`: the address is to name it. */
  function open(name, { place = true } = {}) {
    const tool = store.tools.find((each) => each.name === name);
    if (tool === undefined) return;
    wanted = undefined;
    if (place) namePlace(['tools', tool.server, tool.tool]);
    const isNew = opened?.name !== name || !frame.element.classList.contains('open');
    opened = tries.get(name) ?? new ToolTry(tool);
    keep(opened);
    opened.refresh(tool);
    if (isNew) frame.show(opened.element, true);
    draw();
  }

  function keep(one) {
    tries.delete(one.name);
    tries.set(one.name, one);
    if (tries.size <= MAX_KEPT_TRIES) return;
    for (const [name, each] of tries) {
      if (each.isRunning) continue;
      tries.delete(name);
      return;
    }
  }

  function route([server, tool]) {
    wanted = undefined;
    if (tool === undefined) return frame.shut();
    const known = store.tools.find((each) => each.server === server && each.tool === tool);
    if (known === undefined) wanted = [server, tool];
    else open(known.name, { place: false });
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
    if (wanted !== undefined) route(wanted);
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

function drawRow({ tool, server, description, title, why = [], place, score, deferred }, row, showing) {
  const about = [title === tool ? undefined : title, firstLine(description)];
  replace(
    row,
    h(
      'span.tool-line',
      h('strong', tool),
      ' ',
      deferred && showing.deferred
        ? h('span.tag', props({ title: 'A model has to search for it' }), 'by search')
        : '',
      showing.server ? h('span.tool-server', server) : '',
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
