/** Entry point of the page: token, navigation between the five views, keyboard shortcuts and notices. */

import { retryNow, setToken, takeToken } from './api.js';
import { button, h, props, replace } from './dom.js';
import { notice, showError } from './notices.js';
import { currentPlace, onPlace, setPlace } from './place.js';
import { serversView } from './servers.js';
import { STATUS } from './states.js';
import { follow, onNotice, reloadServers, store, watch } from './store.js';

const THEME_KEY = 'plugboard-theme';
const THEMES = ['auto', 'light', 'dark'];
/** Name, label, loader and count of each view; all but the first are loaded on demand or when the page is idle. */
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
  // Sessions open and end without an event, so a count would be outdated.
  ['clients', 'Clients', async () => (await import('./clients.js')).clientsView(), () => 0],
];

const main = document.getElementById('view');
const nav = document.querySelector('.nav');
const foot = document.querySelector('.rail-foot');
const offline = document.getElementById('offline');
const views = new Map();
let current;
let wasConnected = false;

/** Returns the promise of a view, which is loaded once. */
function viewOf(name) {
  if (!views.has(name)) views.set(name, VIEWS.find(([each]) => each === name)[2]());
  return views.get(name);
}

/** The last place in each view, restored when the view is shown again. */
const lastPlaces = new Map();

/** Shows the place in the URL, and calls `onShown` with its view. */
async function showPlace(onShown = () => {}) {
  const [name, ...rest] = currentPlace();
  const known = VIEWS.find(([each]) => each === name) ?? VIEWS[0];
  current = known[0];
  if (name !== current) setPlace([current], { replace: true });
  lastPlaces.set(current, name === current ? [name, ...rest] : [current]);
  drawNav();
  const view = await viewOf(current);
  // Another view was selected while this one was loading.
  if (current !== known[0]) return;
  if (view.element !== main.firstElementChild) {
    replace(main, view.element);
    main.setAttribute('aria-label', known[1]);
    view.draw?.();
  }
  view.route?.(lastPlaces.get(current).slice(1));
  onShown(view);
}

/** Shows a view at its last place, or its list if it is already shown. */
async function show(name, onShown) {
  // Views change the URL themselves when a detail is opened.
  if (currentPlace()[0] === current) lastPlaces.set(current, currentPlace());
  setPlace(name === current ? [name] : (lastPlaces.get(name) ?? [name]));
  await showPlace(onShown);
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

/** Shows a banner on every view while the connection is lost, because the data may be outdated. */
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
            ' The data shown may be outdated. This page reconnects automatically.',
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
  const switchTheme = () => {
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
    button(`${theme} theme`, switchTheme, { kind: 'link', title: `Change to ${next}` }),
    button('Keys', showKeys, { kind: 'link', title: 'Press ?' }),
  );
}

function showKeys() {
  const keys = [
    ['1 – 5', 'the five views'],
    ['/', 'search tools'],
    ['↑ ↓ or j k', 'move in a list'],
    ['↵', 'open the selected item'],
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

/** Text typed after `/` while the tools view is loading; undefined if no search is being opened. */
let typedAhead;

function startSearch() {
  typedAhead ??= '';
  const done = () => {
    typedAhead = undefined;
  };
  show('tools', (view) => view.search(typedAhead ?? '')).then(done, done);
}

document.addEventListener('keydown', (event) => {
  const isTyping =
    event.target.closest?.('input, textarea, select, dialog') !== null && event.target !== document.body;
  if (event.key === 'Escape' && !event.target.closest?.('dialog')) {
    // The back button is hidden if both panes fit.
    const back = document.querySelector('.panes.open .back');
    if (back?.checkVisibility()) back.click();
    if (isTyping) event.target.blur();
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (typedAhead !== undefined && event.key.length === 1) {
    event.preventDefault();
    typedAhead += event.key;
  } else if (/^[1-5]$/.test(event.key)) void show(VIEWS[Number(event.key) - 1][0], (view) => view.focus());
  else if (event.key === '/') {
    event.preventDefault();
    startSearch();
  } else if (event.key === '?') showKeys();
});

/** Server name → key of the last notice about it. */
const lastNotices = new Map();

document.querySelector('.skip').addEventListener('click', (event) => {
  // Following the link would replace the place in the URL.
  event.preventDefault();
  main.focus();
});

function showEvent({ kind, report, before, event }) {
  if (kind === 'login') {
    const messages = {
      done: 'You are logged in to',
      removed: 'You are logged out of',
      failed: 'The login failed for',
    };
    notice(`${messages[event.state]} ${event.server}.`, {
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
      hint: 'Answer it under Questions.',
    });
    return;
  }
  const [tone, word] = STATUS[report.status] ?? ['calm', report.status];
  // Transitional states are only shown in the list; a final state is announced once until it changes.
  if (before === undefined || tone === 'busy' || report.status === 'idle') return;
  const key = JSON.stringify([report.status, report.error?.message]);
  if (lastNotices.get(report.name) === key) return;
  lastNotices.set(report.name, key);
  notice(`${report.name}: ${word}`, { kind: tone === 'calm' ? 'info' : tone, hint: report.error?.message });
}

function askForToken(isWrong) {
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
    h('p', isWrong ? 'Wrong token.' : 'This page needs its token.'),
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
    // Checks the token and loads the data of the first view.
    const first = reloadServers();
    void showPlace();
    await first;
  } catch (error) {
    if (error.status === 401 || error.status === 429) return askForToken(true);
    showError(error);
  }
  watch(['servers', 'tools', 'calls', 'questions'], drawNav);
  watch(['connected'], () => {
    drawFoot();
    drawOffline();
  });
  onPlace(() => {
    // A URL with a token was pasted into this window.
    if (location.hash.startsWith('#token=')) takeToken() && location.reload();
    else void showPlace();
  });
  onNotice(showEvent);
  follow(() => askForToken(true));
  requestIdleCallback(() => {
    for (const [name] of VIEWS) void viewOf(name);
  });
}

void start();
