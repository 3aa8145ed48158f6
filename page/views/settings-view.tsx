/** The settings view: theme, notifications, sound, and the history of calls. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useApp } from '../app.ts';
import { THEMES } from '../settings-store.ts';
import { size } from '../text.ts';
import { Facts, Segments } from '../ui/bits.tsx';
import { Button, ConfirmButton } from '../ui/button.tsx';
import { ImportAgents } from './import-agents.tsx';
import { InputsCard } from './inputs-card.tsx';

const THEME_LABELS = { auto: 'as the system', light: 'light', dark: 'dark' } as const;

export function SettingsView(): JSX.Element {
  return (
    <div class="plain">
      <div class="head">
        <div class="head-line">
          <h1>Settings</h1>
        </div>
      </div>
      <div class="sheet">
        <ThisBrowser />
        <HistorySettings />
        <InputsCard />
        <ImportAgents />
        <AboutCard />
      </div>
    </div>
  );
}

function Setting(props: {
  readonly label: string;
  readonly about: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="setting">
      <div>
        <strong>{props.label}</strong>
        <p class="hint">{props.about}</p>
      </div>
      {props.children}
    </div>
  );
}

const ON_OFF = [
  ['off', 'off'],
  ['on', 'on'],
] as const;

function ThisBrowser(): JSX.Element {
  const { settings, notices } = useApp();
  const setNotifications = async (wanted: boolean): Promise<void> => {
    const isOn = await settings.setNotifications(wanted);
    if (wanted && !isOn)
      notices.add('The browser does not allow notifications.', {
        kind: 'warn',
        hint: 'Allow notifications for this page in the settings of the browser.',
      });
  };
  return (
    <section class="card">
      <h2>This browser</h2>
      <Setting label="Theme" about="Colours of the page.">
        <Segments
          label="Theme"
          options={THEMES.map((theme) => [theme, THEME_LABELS[theme]] as const)}
          value={settings.theme.value}
          onChoose={(theme) => settings.setTheme(theme)}
        />
      </Setting>
      <Setting
        label="Notifications"
        about="A desktop notification when a question waits and this page is in the background. Needs the permission of the browser."
      >
        <Segments
          label="Notifications"
          options={ON_OFF}
          value={settings.notifications.value ? 'on' : 'off'}
          onChoose={(value) => void setNotifications(value === 'on')}
        />
      </Setting>
      <Setting label="Sound" about="A short tone when a question waits.">
        <Segments
          label="Sound"
          options={ON_OFF}
          value={settings.sound.value ? 'on' : 'off'}
          onChoose={(value) => settings.setSound(value === 'on')}
        />
      </Setting>
    </section>
  );
}

interface HistoryState {
  readonly enabled: boolean;
  readonly bytes: number;
  readonly days: number;
  readonly maxBytes: number;
  readonly folder?: string;
  readonly problem?: string;
}

function HistorySettings(): JSX.Element | null {
  const { api, store, notices } = useApp();
  const state = useSignal<HistoryState | undefined>(undefined);
  const show = (work: Promise<HistoryState>): Promise<void> =>
    work.then(
      (answer) => {
        state.value = answer;
      },
      (error) => notices.showError(error),
    );
  const load = (): Promise<void> => show(api.get<HistoryState>('/api/history'));
  useEffect(() => void load(), [store.historyVersion.value]);
  if (state.value === undefined) return null;
  const { enabled, bytes, days, maxBytes, folder, problem } = state.value;
  return (
    <section class="card">
      <h2>History of calls</h2>
      <Setting
        label="Keep calls with their values"
        about={`Arguments and results, with secrets removed, for ${days} days and at most ${size(maxBytes)}, readable by you alone.`}
      >
        <Segments
          label="Keep calls with their values"
          options={ON_OFF}
          value={enabled ? 'on' : 'off'}
          onChoose={(value) =>
            void show(api.send<HistoryState>('POST', '/api/history', { enabled: value === 'on' }))
          }
        />
      </Setting>
      <Setting label="Kept now" about={folder === undefined ? size(bytes) : `${size(bytes)} in ${folder}`}>
        <ConfirmButton
          label="Clear the history"
          confirmLabel="Really clear"
          about="of all runs"
          onConfirm={async () => {
            await api.send('DELETE', '/api/history').then(
              () => notices.add('The history is cleared.', { kind: 'good' }),
              (error) => notices.showError(error),
            );
            await load();
          }}
        />
      </Setting>
      {problem !== undefined && <p class="field-error">{problem}</p>}
      <div class="actions">
        <Button kind="small" onPress={load}>
          Refresh
        </Button>
      </div>
    </section>
  );
}

interface About {
  readonly version: string;
  readonly folder?: string;
  readonly home?: string;
}

function AboutCard(): JSX.Element | null {
  const { api } = useApp();
  const about = useSignal<About | undefined>(undefined);
  useEffect(() => {
    api.get<About>('/api/about').then(
      (answer) => {
        about.value = answer;
      },
      () => {},
    );
  }, []);
  if (about.value === undefined) return null;
  const { version, folder, home } = about.value;
  return (
    <section class="card">
      <h2>About</h2>
      <Facts
        rows={[
          ['Version', version],
          ['Project', folder],
          ['Configuration', home],
        ]}
      />
    </section>
  );
}
