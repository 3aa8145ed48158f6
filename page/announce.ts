/** Announces events: notices on the page, and for questions a desktop notification and a sound if they are on. */

import type { LoginEvent, ServerReport } from './api-types.ts';
import type { Notices } from './notices.tsx';
import type { Router } from './router.ts';
import type { Settings } from './settings-store.ts';
import { statusOf } from './states.ts';
import type { Announcement } from './store.ts';

const BEEP_HZ = 660;
const BEEP_SECONDS = 0.18;
const BEEP_VOLUME = 0.05;

const LOGIN_TEXTS: Readonly<Record<string, string>> = {
  done: 'You are logged in to',
  removed: 'You are logged out of',
  failed: 'The login failed for',
};

export class Announcer {
  readonly #parts: { readonly notices: Notices; readonly router: Router; readonly settings: Settings };
  /** Server name → key of the last notice about it. */
  readonly #last = new Map<string, string>();

  constructor(parts: { readonly notices: Notices; readonly router: Router; readonly settings: Settings }) {
    this.#parts = parts;
  }

  announce(announcement: Announcement): void {
    switch (announcement.kind) {
      case 'server':
        this.#announceServer(announcement.report);
        break;
      case 'login':
        this.#announceLogin(announcement.login);
        break;
      case 'question':
        this.#announceQuestion(announcement);
        break;
      default:
        announcement satisfies never;
    }
  }

  #announceLogin({ server, state, message }: LoginEvent): void {
    this.#parts.notices.add(`${LOGIN_TEXTS[state]} ${server}.`, {
      kind: state === 'failed' ? 'bad' : 'good',
      hint: message,
    });
  }

  /** Transitional states are only shown in the list; a final state is announced once until it changes. */
  #announceServer({ name, status, error }: ServerReport): void {
    const { tone, label } = statusOf(status);
    const key = JSON.stringify([status, error?.message]);
    if (tone === 'busy' || status === 'idle' || this.#last.get(name) === key) return;
    this.#last.set(name, key);
    this.#parts.notices.add(`${name}: ${label}`, {
      kind: tone === 'calm' ? 'info' : tone,
      hint: error?.message,
    });
  }

  #announceQuestion({ question }: Extract<Announcement, { kind: 'question' }>): void {
    const { notices, router, settings } = this.#parts;
    const { kind, server, tool } = question;
    const text = kind === 'approval' ? `Allow ${tool} of ${server}?` : `${server} asks a question.`;
    // These views show it themselves.
    const [view = 'overview'] = router.place.value;
    if (view !== 'overview' && view !== 'questions')
      notices.add(text, { kind: 'warn', hint: 'Answer it under Questions.', about: 'questions' });
    if (settings.sound.value) beep();
    if (settings.notifications.value && document.hidden) this.#notify(text);
  }

  /** The notification has no buttons: a call is only approved on the page, where its arguments are shown. */
  #notify(text: string): void {
    const shown = new Notification('Plugboard', { body: text, tag: 'plugboard-question', icon: 'icon.svg' });
    shown.onclick = () => {
      window.focus();
      this.#parts.router.go(['questions']);
      shown.close();
    };
  }
}

function beep(): void {
  const context = new AudioContext();
  const tone = context.createOscillator();
  const volume = context.createGain();
  volume.gain.value = BEEP_VOLUME;
  tone.frequency.value = BEEP_HZ;
  tone.connect(volume).connect(context.destination);
  tone.start();
  tone.stop(context.currentTime + BEEP_SECONDS);
  tone.onended = () => void context.close();
}
