/** The view of calls: a strip of the last minutes, and every call with how long it took and how it went. */

import { columns } from './charts.js';
import { duration, h, plural, props, replace } from './dom.js';
import { store, watch } from './store.js';
import { VirtualList } from './virtual-list.js';

const SLICES = 90;
const SLICE_MS = 2_000;
const DRAW_MS = 100;
const STRIP_MS = 500;
/** Bars are compared among so many of the newest calls. */
const MEASURED = 300;
const OUTCOMES = {
  ok: ['good', 'ok'],
  'tool-error': ['warn', 'tool error'],
  error: ['bad', 'error'],
  denied: ['bad', 'denied'],
  cancelled: ['calm', 'cancelled'],
  timeout: ['bad', 'timeout'],
};
const SHOWS = {
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
  const counted = h('span.counted', props({ role: 'status' }));
  const chosen = h('div.segments', props({ role: 'radiogroup', aria: { label: 'Which calls' } }));
  const filter = h('select', props({ aria: { label: 'Only of one server' } }));
  let which = 'all';
  let longest = 1;
  let isDue = false;
  let stripAt = 0;
  for (const name of Object.keys(SHOWS)) {
    chosen.append(
      h(
        'button',
        props({
          type: 'button',
          role: 'radio',
          aria: { checked: String(name === which) },
          onclick: (event) => {
            which = name;
            for (const each of chosen.children)
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
    printOf: ({ outcome, progress }) => `${outcome} ${progress?.progress} ${longest}`,
    empty: () =>
      which === 'all' ? 'Nothing was called yet. Calls of every client appear here as they happen.' : 'None.',
  });
  const element = h(
    'div.calls',
    h('div.head', h('div.head-line', h('h1', 'Calls'), counted), strip, h('div.controls', chosen, filter)),
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
    const of = filter.value;
    const wanted =
      which === 'all' && of === ''
        ? store.calls
        : store.calls.filter((call) => SHOWS[which](call) && (of === '' || call.server === of));
    const { length } = wanted;
    let most = 1;
    for (let at = Math.max(0, length - MEASURED); at < length; at += 1)
      most = Math.max(most, wanted[at].ms ?? 0);
    // In steps, so that not every new call makes all bars anew.
    longest = 2 ** Math.ceil(Math.log2(most));
    list.show(length, (at) => wanted[length - 1 - at]);
    const { running } = store;
    counted.textContent = `${plural(length, 'call')}${running === 0 ? '' : `, ${running} running`}`;
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
    const now = filter.value;
    replace(
      filter,
      h('option', props({ value: '' }), 'All servers'),
      ...names.map((name) => h('option', props({ value: name }), name)),
    );
    filter.value = names.includes(now) ? now : '';
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
    const part =
      call.ms === undefined
        ? total > 0
          ? progress / total
          : 0.3
        : Math.max(0.008, Math.sqrt(call.ms / longest));
    bar.firstElementChild.style.width = `${Math.min(1, part) * 100}%`;
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
      h('span.took', bar, h('span', call.ms === undefined ? progressWord(call.progress) : duration(call.ms))),
      h('span.session', call.session),
    );
  }

  filter.addEventListener('change', draw);
  // Often enough to look live, however many there are.
  watch(['calls'], () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      draw();
    }, DRAW_MS);
  });
  watch(['servers'], drawFilter);
  // Time goes on also while nothing is called.
  setInterval(() => {
    if (element.isConnected && !document.hidden) drawStrip();
  }, SLICE_MS);
  drawFilter();
  return { element, draw, focus: () => list.element.focus() };
}

function progressWord(progress) {
  if (progress === undefined) return 'running';
  const { progress: done, total } = progress;
  return total > 0 ? `${Math.round((done / total) * 100)} %` : String(done);
}
