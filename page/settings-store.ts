/** Settings of this browser: theme, desktop notifications and sound. */

import { type Signal, signal } from '@preact/signals';

const KEYS = {
  theme: 'plugboard-theme',
  notifications: 'plugboard-notifications',
  sound: 'plugboard-sound',
} as const;

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export class Settings {
  readonly theme: Signal<Theme> = signal(savedTheme());
  readonly notifications: Signal<boolean> = signal(localStorage.getItem(KEYS.notifications) === 'on');
  readonly sound: Signal<boolean> = signal(localStorage.getItem(KEYS.sound) === 'on');

  constructor() {
    this.#applyTheme();
  }

  setTheme(theme: Theme): void {
    localStorage.setItem(KEYS.theme, theme);
    this.theme.value = theme;
    this.#applyTheme();
  }

  setSound(isOn: boolean): void {
    localStorage.setItem(KEYS.sound, isOn ? 'on' : 'off');
    this.sound.value = isOn;
  }

  /** Switches notifications; asks the browser for permission if needed. Returns whether they are on. */
  async setNotifications(isOn: boolean): Promise<boolean> {
    const isAllowed = isOn && (await permission()) === 'granted';
    localStorage.setItem(KEYS.notifications, isAllowed ? 'on' : 'off');
    this.notifications.value = isAllowed;
    return isAllowed;
  }

  #applyTheme(): void {
    document.documentElement.dataset['theme'] = this.theme.value;
  }
}

function savedTheme(): Theme {
  const saved = localStorage.getItem(KEYS.theme);
  return THEMES.find((theme) => theme === saved) ?? 'auto';
}

async function permission(): Promise<NotificationPermission> {
  if (!('Notification' in window)) return 'denied';
  return Notification.permission === 'default' ? Notification.requestPermission() : Notification.permission;
}
