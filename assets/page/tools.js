/** The view of tools: all of them, or those that fit what is typed, ranked as for a model and with the reason. */

import { api } from './api.js';
import { h, plural, props, replace } from './dom.js';
import { failed } from './notices.js';
import { panes } from './panes.js';
import { store, watch } from './store.js';
import { ToolTry } from './tool-try.js';
import { VirtualList } from './virtual-list.js';

const TYPING_MS = 90;
const MAX_RESULTS = 100;

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
    rowHeight: 58,
    render: drawRow,
    keyOf: ({ name }) => name,
    printOf: ({ title, description, deferred, score, why }) =>
      JSON.stringify([title, description, deferred, score, why]),
    onOpen: (item) => open(item.name),
    empty: () =>
      box.value.trim() === '' ? (store.loaded ? 'No tools are known yet.' : 'Looking …') : 'Nothing fits.',
  });
  const frame = panes({
    head: h('div.head', h('div.head-line', h('h1', 'Tools'), counted), h('div.controls', box, filter)),
    list: list.element,
    empty: 'Choose a tool to read about it and to try it.',
  });
  let found;
  let searching;
  let timer;
  let opened;

  function draw() {
    const of = filter.value;
    const all = found ?? store.tools;
    const items = of === '' ? all : all.filter(({ server }) => server === of);
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
      found = results;
      list.active = -1;
      list.element.scrollTop = 0;
      draw();
    } catch (error) {
      if (error.name !== 'AbortError') failed(error);
    }
  }

  function open(name) {
    const tool = store.tools.find((each) => each.name === name);
    if (tool === undefined) return;
    opened = new ToolTry(tool);
    frame.show(opened.element, true);
    draw();
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
    open,
    close: frame.close,
    only(server) {
      filter.value = server;
      draw();
    },
  };
}

function drawRow({ tool, server, description, title, why = [], score, deferred }, row) {
  replace(
    row,
    h(
      'span.tool-line',
      h('strong', tool),
      title !== undefined && title !== tool ? h('span.tool-title', title) : '',
      deferred ? h('span.tag', props({ title: 'A model has to search for it' }), 'deferred') : '',
      h('span.tool-server', server),
      score === undefined
        ? ''
        : h('span.tool-score', props({ title: 'How well it fits, from 0 to 1' }), score.toFixed(2)),
    ),
    why.length === 0
      ? h('span.tool-about', firstLine(description))
      : h(
          'span.tool-why',
          ...why.map(({ field, words }) => h('span.reason', h('em', field), ` ${words.join(', ')}`)),
        ),
  );
}

const firstLine = (text) => (text.length > 300 ? `${text.slice(0, 300)}…` : text).replace(/\s+/g, ' ');
