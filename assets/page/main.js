/** The page itself: the token, the four views, the keyboard, and what is told at the edge. */

import { retryNow, setToken, takeToken } from './api.js';
import { button, h, props, replace } from './dom.js';
import { failed, notice } from './notices.js';
import { namePlace, onPlace, placeNow } from './place.js';
import { serversView } from './servers.js';
import { STATUS } from './states.js';
import { follow, onNotice, reloadServers, store, watch } from './store.js';

const THEME_KEY = 'plugboard-theme';
const THEMES = ['auto', 'light', 'dark'];
/** The first view comes with the page, the others while it is looked at. */
const VIEWS = [
  ['servers', 'Servers', async () => serversView(), () => store.servers.length],
  ['tools', 'Tools', async () => (await import('./tools.js')).toolsView(), () => store.tools.length],
  ['calls', 'Calls', async () => (await import('./calls.js')).callsView(), () => store.running],
  [
    'questions',
    'Questions',
    async () => (await import('./questions.js')).questionsView(),
    () => store.questions.length,
  ],
];

const main = document.getElementById('view');
const nav = document.querySelector('.nav');
const foot = document.querySelector('.rail-foot');
const offline = document.getElementById('offline');
const made = new Map();
let current;
let wasConnected = false;

/** One object for each view, made once. */
function viewOf(name) {
  if (!made.has(name)) made.set(name, VIEWS.find(([each]) => each === name)[2]());
  return made.get(name);
}

/** The last place of each view, to come back to. */
const lastPlaces = new Map();

/** Shows the place that the address names. */
async function showPlace(use = () => {}) {
  const [name, ...rest] = placeNow();
  const known = VIEWS.find(([each]) => each === name) ?? VIEWS[0];
  current = known[0];
  if (name !== current) namePlace([current], { over: true });
  lastPlaces.set(current, name === current ? [name, ...rest] : [current]);
  drawNav();
  const view = await viewOf(current);
  // Another one was asked for while this one was loaded.
  if (current !== known[0]) return;
  if (view.element !== main.firstElementChild) {
    replace(main, view.element);
    main.setAttribute('aria-label', known[1]);
    view.draw?.();
  }
  view.route?.(lastPlaces.get(current).slice(1));
  use(view);
}

/** Shows a view where it was left; a second time, its list. */
async function show(name, use) {
  // Its details have named places of their own since it was shown.
  if (placeNow()[0] === current) lastPlaces.set(current, placeNow());
  namePlace(name === current ? [name] : (lastPlaces.get(name) ?? [name]));
  await showPlace(use);
}

function drawNav() {
  for (const [at, [name, label, , amount]] of VIEWS.entries()) {
    const link =
      nav.children[at] ??
      nav.appendChild(
        h(
          'a',
          props({
            href: `#${name}`,
            onclick: (event) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              void show(name);
            },
          }),
          h('span.nav-name', label),
          ' ',
          h('span.nav-count'),
        ),
      );
    link.setAttribute('aria-current', current === name ? 'page' : 'false');
    link.title = `Press ${at + 1}`;
    const number = amount();
    link.lastElementChild.textContent = number === 0 ? '' : number > 9_999 ? '9999+' : String(number);
    link.lastElementChild.classList.toggle('urgent', name === 'questions' && number > 0);
  }
  const waiting = store.questions.length;
  document.title = waiting === 0 ? 'Plugboard' : `(${waiting}) Plugboard`;
}

/** A gateway that is not there is shown wherever one looks: what is on the page may be old. */
function drawOffline() {
  wasConnected ||= store.connected;
  const isOffline = wasConnected && !store.connected;
  document.body.classList.toggle('is-offline', isOffline);
  if (offline.hidden === !isOffline) return;
  offline.hidden = !isOffline;
  replace(
    offline,
    isOffline
      ? [
          h(
            'p',
            h('strong', 'Plugboard cannot be reached.'),
            ' What is shown may be old. This page goes on by itself.',
          ),
          button('Try now', retryNow, { kind: 'small' }),
        ]
      : '',
  );
}

function drawFoot() {
  const theme = localStorage.getItem(THEME_KEY) ?? 'auto';
  document.documentElement.dataset.theme = theme;
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  const turn = () => {
    localStorage.setItem(THEME_KEY, next);
    drawFoot();
  };
  replace(
    foot,
    h(
      'span.live',
      props({ data: { tone: store.connected ? 'good' : 'bad' }, role: 'status' }),
      h(`span.dot.${store.connected ? 'good' : 'bad'}`),
      store.connected ? 'live' : 'not connected',
    ),
    button(`${theme} theme`, turn, { kind: 'link', title: `Change to ${next}` }),
    button('Keys', showKeys, { kind: 'link', title: 'Press ?' }),
  );
}

function showKeys() {
  const keys = [
    ['1 – 4', 'the four views'],
    ['/', 'search tools'],
    ['↑ ↓ or j k', 'move in a list'],
    ['↵', 'open what is marked'],
    ['Ctrl ↵', 'run a tool'],
    ['Esc', 'back'],
  ];
  const dialog = h(
    'dialog.keys-dialog',
    props({ aria: { label: 'Keys' } }),
    h('h2', 'Keys'),
    h('dl.facts', ...keys.map(([key, does]) => h('div', h('dt', h('kbd', key)), h('dd', does)))),
    h(
      'div.actions.end',
      button('Close', () => dialog.close()),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** What was typed after `/` while the view with its box was still on the way; undefined: nothing is waited for. */
let typedAhead;

function startSearch() {
  typedAhead ??= '';
  const done = () => {
    typedAhead = undefined;
  };
  show('tools', (view) => view.search(typedAhead ?? '')).then(done, done);
}

document.addEventListener('keydown', (event) => {
  const typing =
    event.target.closest?.('input, textarea, select, dialog') !== null && event.target !== document.body;
  if (event.key === 'Escape' && !event.target.closest?.('dialog')) {
    // Where both panes have room there is nothing to go back from.
    const back = document.querySelector('.panes.open .back');
    if (back?.checkVisibility()) back.click();
    if (typing) event.target.blur();
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (typedAhead !== undefined && event.key.length === 1) {
    event.preventDefault();
    typedAhead += event.key;
  } else if (/^[1-4]$/.test(event.key)) void show(VIEWS[Number(event.key) - 1][0], (view) => view.focus());
  else if (event.key === '/') {
    event.preventDefault();
    startSearch();
  } else if (event.key === '?') showKeys();
});

/** Server → what was told of it last. */
const told = new Map();

document.querySelector('.skip').addEventListener('click', (event) => {
  // The address names a place of this page.
  event.preventDefault();
  main.focus();
});

function tell({ kind, report, before, event }) {
  if (kind === 'login') {
    const words = {
      done: 'You are logged in to',
      removed: 'The login is cleared for',
      failed: 'The login failed for',
    };
    notice(`${words[event.state]} ${event.server}.`, {
      kind: event.state === 'failed' ? 'bad' : 'good',
      hint: event.message,
    });
    return;
  }
  if (kind === 'question') {
    if (current === 'questions') return;
    const { server, tool } = event;
    notice(event.kind === 'approval' ? `Allow ${tool} of ${server}?` : `${server} asks a question.`, {
      kind: 'warn',
      hint: 'It waits under Questions.',
    });
    return;
  }
  const [tone, word] = STATUS[report.status] ?? ['calm', report.status];
  // What is on its way is seen in the list; what it came to is worth a word, once for as long as it stays so.
  if (before === undefined || tone === 'busy' || report.status === 'idle') return;
  const key = JSON.stringify([report.status, report.error?.message]);
  if (told.get(report.name) === key) return;
  told.set(report.name, key);
  notice(`${report.name}: ${word}`, { kind: tone === 'calm' ? 'info' : tone, hint: report.error?.message });
}

function askForToken(wrong) {
  const token = h(
    'input.mono',
    props({
      type: 'password',
      autocomplete: 'off',
      required: true,
      aria: { label: 'Token' },
    }),
  );
  const form = h(
    'form.gate',
    h('h1', 'Plugboard'),
    h('p', wrong ? 'This token is not the right one.' : 'This page needs its token.'),
    h(
      'p.hint',
      h('code', 'plugboard dashboard'),
      ' opens it with the right one, which is also in the file ',
      h('code', 'manage-token'),
      ' of your Plugboard folder. Tokens of agents, and the token of version 0.1.0, do not open this page.',
    ),
    token,
    h('div.actions', h('button.primary', props({ type: 'submit' }), 'Open')),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    setToken(token.value.trim());
    location.reload();
  });
  document.body.classList.add('gated');
  replace(main, form);
  token.focus();
}

async function start() {
  if (takeToken() === null) return askForToken(false);
  drawFoot();
  try {
    // Enough to know whether we may come in, and what the first view shows.
    const first = reloadServers();
    void showPlace();
    await first;
  } catch (error) {
    if (error.status === 401 || error.status === 429) return askForToken(true);
    failed(error);
  }
  watch(['servers', 'tools', 'calls', 'questions'], drawNav);
  watch(['connected'], () => {
    drawFoot();
    drawOffline();
  });
  onPlace(() => {
    // Another address with a token was pasted into the same window.
    if (location.hash.startsWith('#token=')) takeToken() && location.reload();
    else void showPlace();
  });
  onNotice(tell);
  follow(() => askForToken(true));
  requestIdleCallback(() => {
    for (const [name] of VIEWS) void viewOf(name);
  });
}

void start();
