/** The frame of the page: navigation, the current view, keys, notices and the banner of a lost connection. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { afterRender } from './after-render.ts';
import { type App, useApp } from './app.ts';
import { NoticeList } from './notices.tsx';
import { THEMES } from './settings-store.ts';
import type { Store } from './store.ts';
import { Dot } from './ui/bits.tsx';
import { Button } from './ui/button.tsx';
import { Dialog } from './ui/dialog.tsx';
import { NavIcon } from './ui/nav-icon.tsx';
import { PlaceLink } from './ui/place-link.tsx';
import { CallsView } from './views/calls-view.tsx';
import { ClientsView } from './views/clients-view.tsx';
import { OverviewView } from './views/overview-view.tsx';
import { QuestionsView } from './views/questions-view.tsx';
import { RulesView } from './views/rules-view.tsx';
import { ServersView } from './views/servers-view.tsx';
import { SettingsView } from './views/settings-view.tsx';
import { ToolsView } from './views/tools-view.tsx';

/** How long the banner reports that the connection is back. */
const BACK_MS = 4_000;
const MAX_COUNT = 9_999;

interface View {
  readonly name: string;
  readonly label: string;
  readonly key: string;
  readonly View: () => JSX.Element;
  readonly count?: (store: Store) => number;
}

const VIEWS: readonly View[] = [
  { name: 'overview', label: 'Overview', key: '0', View: OverviewView },
  {
    name: 'servers',
    label: 'Servers',
    key: '1',
    View: ServersView,
    count: (store) => store.servers.value.length,
  },
  { name: 'tools', label: 'Tools', key: '2', View: ToolsView, count: (store) => store.tools.value.length },
  { name: 'calls', label: 'Calls', key: '3', View: CallsView, count: (store) => store.calls.running.value },
  {
    name: 'questions',
    label: 'Questions',
    key: '4',
    View: QuestionsView,
    count: (store) => store.questions.value.length,
  },
  { name: 'clients', label: 'Clients', key: '5', View: ClientsView },
  { name: 'rules', label: 'Rules', key: '6', View: RulesView },
  { name: 'settings', label: 'Settings', key: '7', View: SettingsView },
];

export function Shell(): JSX.Element {
  const app = useApp();
  const { store, router, notices } = app;
  const main = useRef<HTMLElement>(null);
  const showsKeys = useSignal(false);
  const current = VIEWS.find(({ name }) => name === router.place.value[0]) ?? (VIEWS[0] as View);
  const waiting = store.questions.value.length;
  useEffect(() => {
    document.title = waiting === 0 ? 'Plugboard' : `(${waiting}) Plugboard`;
  }, [waiting]);
  const isAnswering = waiting === 0 || current.name === 'questions';
  useEffect(() => {
    if (isAnswering) notices.removeAbout('questions');
  }, [isAnswering]);
  useEffect(() => {
    document.body.classList.toggle('is-offline', store.isLost.value);
  }, [store.isLost.value]);
  useEffect(() => {
    const press = (event: KeyboardEvent): void =>
      onKey(app, event, () => {
        showsKeys.value = true;
      });
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return (
    <>
      <button class="skip" type="button" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header class="rail">
        <div class="brand">
          <img src="icon.svg" alt="" width="22" height="22" />
          <span>Plugboard</span>
        </div>
        <nav class="nav" aria-label="Views">
          {VIEWS.map((view) => (
            <NavLink key={view.name} view={view} isCurrent={view === current} />
          ))}
        </nav>
        <Foot
          onKeys={() => {
            showsKeys.value = true;
          }}
        />
      </header>
      <LinkBanner />
      <main id="view" tabIndex={-1} aria-label={current.label} ref={main}>
        <current.View key={current.name} />
      </main>
      <NoticeList notices={notices} />
      {showsKeys.value && (
        <Keys
          onClose={() => {
            showsKeys.value = false;
          }}
        />
      )}
    </>
  );
}

function NavLink({ view, isCurrent }: { readonly view: View; readonly isCurrent: boolean }): JSX.Element {
  const { store, router } = useApp();
  const number = view.count?.(store) ?? 0;
  const isUrgent = view.name === 'questions' && number > 0;
  return (
    <PlaceLink
      to={[view.name]}
      title={`Press ${view.key}`}
      current={isCurrent ? 'page' : false}
      onFollow={() => router.goToView(view.name)}
    >
      <NavIcon name={view.name} />
      <span class="nav-name">{view.label}</span>{' '}
      <span class={isUrgent ? 'nav-count urgent' : 'nav-count'}>
        {number === 0 ? '' : number > MAX_COUNT ? `${MAX_COUNT}+` : String(number)}
      </span>
    </PlaceLink>
  );
}

/** Shown on every view while the connection is lost, because the data may be outdated; then reports that it is back. */
function LinkBanner(): JSX.Element {
  const { store } = useApp();
  const link = store.link.value;
  const before = useRef(link);
  const isBack = useSignal(false);
  useEffect(() => {
    const wasLost = before.current === 'lost';
    before.current = link;
    if (!wasLost || link !== 'live') return undefined;
    isBack.value = true;
    const timer = setTimeout(() => {
      isBack.value = false;
    }, BACK_MS);
    return () => clearTimeout(timer);
  }, [link]);
  if (link === 'lost')
    return (
      <div id="offline" role="alert">
        <p>
          <strong>Plugboard cannot be reached.</strong> The data shown may be outdated. This page reconnects
          automatically.
        </p>
        <Button kind="small" onPress={() => store.retryNow()}>
          Try now
        </Button>
      </div>
    );
  return (
    <div id="offline" role="alert" class="back-online" hidden={!isBack.value}>
      {isBack.value && (
        <p>
          <strong>Connected again.</strong> The data is current.
        </p>
      )}
    </div>
  );
}

function Foot({ onKeys }: { readonly onKeys: () => void }): JSX.Element {
  const { store, settings } = useApp();
  const theme = settings.theme.value;
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
  const isLive = store.link.value === 'live';
  const tone = isLive ? 'good' : 'bad';
  return (
    <div class="rail-foot">
      <span class="live" data-tone={tone} role="status">
        <Dot tone={tone} />
        {isLive ? 'live' : 'not connected'}
      </span>
      <Button kind="link" title={`Change to ${next}`} onPress={() => settings.setTheme(next)}>
        {`${theme} theme`}
      </Button>
      <Button kind="link" title="Press ?" onPress={onKeys}>
        Keys
      </Button>
    </div>
  );
}

const KEYS = [
  ['0 – 7', 'the views'],
  ['/', 'search tools'],
  ['↑ ↓ or j k', 'move in a list'],
  ['↵', 'open the selected item'],
  ['Ctrl ↵', 'run a tool'],
  ['Esc', 'back'],
] as const;

function Keys({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog label="Keys" class="keys-dialog" onClose={onClose}>
      <h2>Keys</h2>
      <dl class="facts">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div class="actions end">
        <Button onPress={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function onKey({ router }: App, event: KeyboardEvent, showKeys: () => void): void {
  const target = event.target instanceof HTMLElement ? event.target : document.body;
  const isInDialog = target.closest('dialog') !== null;
  const isTyping = isInDialog || target.closest('input, textarea, select') !== null;
  if (event.key === 'Escape' && !isInDialog) {
    // The back button is hidden if both panes fit.
    const back = document.querySelector<HTMLElement>('.panes.open .back');
    if (back?.checkVisibility()) back.click();
    if (isTyping) target.blur();
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const view = VIEWS.find(({ key }) => key === event.key);
  if (view !== undefined) {
    router.goToView(view.name);
    focusSoon('main [data-focus], main .server-row[tabindex="0"]');
  } else if (event.key === '/') {
    event.preventDefault();
    router.go(['tools']);
    focusSoon('main .search');
  } else if (event.key === '?') showKeys();
}

/** Focuses an element of the view that is rendered next, before the next event of the keyboard. */
function focusSoon(selector: string): void {
  afterRender(() => document.querySelector<HTMLElement>(selector)?.focus());
}
