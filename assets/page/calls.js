/** The calls view: a chart of the last three minutes, and a list of calls with duration and outcome. */

import { columns } from './charts.js';
import { duration, h, plural, props, replace } from './dom.js';
import { OUTCOMES } from './states.js';
import { store, watch } from './store.js';
import { VirtualList } from './virtual-list.js';

const SLICES = 90;
const SLICE_MS = 2_000;
const DRAW_MS = 100;
const STRIP_MS = 500;
/** The duration bars are scaled to the slowest of this many newest calls. */
const SCALED_CALLS = 300;
const FILTERS = {
  all: () => true,
  running: ({ outcome }) => outcome === undefined,
  failed: ({ outcome }) => outcome !== undefined && outcome !== 'ok',
};

const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

export function callsView() {
  const strip = h('div.strip');
  const countLabel = h('span.counted', props({ role: 'status' }));
  const filterButtons = h('div.segments', props({ role: 'radiogroup', aria: { label: 'Which calls' } }));
  const filter = h('select', props({ aria: { label: 'Only one server' } }));
  let selectedFilter = 'all';
  let longest = 1;
  let isScheduled = false;
  let stripAt = 0;
  for (const name of Object.keys(FILTERS)) {
    filterButtons.append(
      h(
        'button',
        props({
          type: 'button',
          role: 'radio',
          aria: { checked: String(name === selectedFilter) },
          onclick: (event) => {
            selectedFilter = name;
            for (const each of filterButtons.children)
              each.setAttribute('aria-checked', String(each === event.currentTarget));
            draw();
          },
        }),
        name,
      ),
    );
  }
  const list = new VirtualList({
    label: 'Calls, newest first',
    rowHeight: 36,
    render: drawRow,
    keyOf: ({ id }) => id,
    fingerprintOf: ({ outcome, progress }) => `${outcome} ${progress?.progress} ${longest}`,
    empty: () =>
      selectedFilter === 'all' ? 'No calls yet. Calls of all clients appear here live.' : 'None.',
  });
  const element = h(
    'div.calls',
    h(
      'div.head',
      h('div.head-line', h('h1', 'Calls'), countLabel),
      strip,
      h('div.controls', filterButtons, filter),
    ),
    h(
      'div.call-row.call-heads',
      props({ aria: { hidden: 'true' } }),
      h('span', 'began'),
      h('span', 'outcome'),
      h('span', 'tool'),
      h('span', 'took'),
      h('span.session', 'session'),
    ),
    list.element,
  );

  function draw() {
    if (!element.isConnected) return;
    const onlyServer = filter.value;
    const filtered =
      selectedFilter === 'all' && onlyServer === ''
        ? store.calls
        : store.calls.filter(
            (call) => FILTERS[selectedFilter](call) && (onlyServer === '' || call.server === onlyServer),
          );
    const { length } = filtered;
    let maxMs = 1;
    for (let at = Math.max(0, length - SCALED_CALLS); at < length; at += 1)
      maxMs = Math.max(maxMs, filtered[at].ms ?? 0);
    // Rounded up to a power of two, so that a new call rarely redraws every bar.
    longest = 2 ** Math.ceil(Math.log2(maxMs));
    list.show(length, (at) => filtered[length - 1 - at]);
    const { running } = store;
    countLabel.textContent = `${plural(length, 'call')}${running === 0 ? '' : `, ${running} running`}`;
    if (Date.now() - stripAt > STRIP_MS) drawStrip();
  }

  function drawStrip() {
    const now = Date.now();
    stripAt = now;
    const begin = now - SLICES * SLICE_MS;
    const slices = Array.from({ length: SLICES }, () => ({ good: 0, bad: 0 }));
    for (let at = store.calls.length - 1; at >= 0; at -= 1) {
      const call = store.calls[at];
      if (call.at < begin) break;
      const slice = slices[Math.min(SLICES - 1, Math.floor((call.at - begin) / SLICE_MS))];
      if (call.outcome === undefined || call.outcome === 'ok') slice.good += 1;
      else slice.bad += 1;
    }
    replace(
      strip,
      columns(slices, { width: 900, height: 44, label: 'Calls of the last three minutes' }),
      h('div.strip-ends', h('span', '3 minutes ago'), h('span', 'now')),
    );
  }

  function drawFilter() {
    const names = store.servers.map(({ name }) => name);
    const selected = filter.value;
    replace(
      filter,
      h('option', props({ value: '' }), 'All servers'),
      ...names.map((name) => h('option', props({ value: name }), name)),
    );
    filter.value = names.includes(selected) ? selected : '';
  }

  function drawRow(call, row) {
    const [tone, word] = OUTCOMES[call.outcome] ?? ['busy', 'running'];
    row.classList.add('call-row');
    const { progress, total } = call.progress ?? {};
    const bar = h(
      call.ms === undefined && !(total > 0) ? 'span.bar.unknown' : 'span.bar',
      props({ data: { tone } }),
      h('span'),
    );
    const fraction =
      call.ms === undefined
        ? total > 0
          ? progress / total
          : 0.3
        : Math.max(0.008, Math.sqrt(call.ms / longest));
    bar.firstElementChild.style.width = `${Math.min(1, fraction) * 100}%`;
    replace(
      row,
      h('span.time', clock.format(call.at)),
      h(
        'span.outcome',
        props({ data: { tone }, title: call.code }),
        h(`span.dot.${tone}`),
        call.code === undefined || call.outcome === 'cancelled'
          ? word
          : call.code.toLowerCase().replaceAll('_', ' '),
      ),
      h('span.what', h('strong', call.tool), h('span', call.server)),
      h('span.took', bar, h('span', call.ms === undefined ? progressText(call.progress) : duration(call.ms))),
      h('span.session', call.session),
    );
  }

  filter.addEventListener('change', draw);
  // Redraws at a fixed rate, independent of the rate of calls.
  watch(['calls'], () => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      draw();
    }, DRAW_MS);
  });
  watch(['servers'], drawFilter);
  // The chart moves with time, also without new calls.
  setInterval(() => {
    if (element.isConnected && !document.hidden) drawStrip();
  }, SLICE_MS);
  drawFilter();
  return { element, draw, focus: () => list.element.focus() };
}

function progressText(progress) {
  if (progress === undefined) return 'running';
  const { progress: done, total } = progress;
  return total > 0 ? `${Math.round((done / total) * 100)} %` : String(done);
}
