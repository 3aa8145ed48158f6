/** Lets a bounded number of a server's log messages through, cleaned, and says how many it held back (CON-13). */

import type { Clock } from '../lib/clock.ts';
import { clean } from '../policy/clean.ts';

const MAX_MESSAGES_PER_WINDOW = 100;
const WINDOW_MS = 1_000;
const MAX_MESSAGE_CHARS = 4_096;

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error';

export interface LogMessage {
  readonly level: LogLevel;
  readonly message: string;
}

/** Levels of the protocol that nobody needs to tell apart. */
const LEVELS: Readonly<Record<string, LogLevel>> = {
  debug: 'debug',
  info: 'info',
  notice: 'notice',
  warning: 'warning',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
};

export class LogGate {
  readonly #clock: Clock;
  readonly #emit: (message: LogMessage) => void;
  #windowEnds = 0;
  #passed = 0;
  #held = 0;

  constructor(clock: Clock, emit: (message: LogMessage) => void) {
    this.#clock = clock;
    this.#emit = emit;
  }

  pass(level: string, data: unknown): void {
    const now = this.#clock.now();
    if (now >= this.#windowEnds) {
      if (this.#held > 0)
        this.#emit({ level: 'warning', message: `${this.#held} log messages were left out` });
      this.#windowEnds = now + WINDOW_MS;
      this.#passed = 0;
      this.#held = 0;
    }
    if (this.#passed === MAX_MESSAGES_PER_WINDOW) {
      this.#held += 1;
      return;
    }
    this.#passed += 1;
    const text = typeof data === 'string' ? data : safeJson(data);
    this.#emit({ level: LEVELS[level] ?? 'info', message: clean(text, { max: MAX_MESSAGE_CHARS }) });
  }
}

function safeJson(data: unknown): string {
  try {
    return JSON.stringify(data) ?? String(data);
  } catch {
    return String(data);
  }
}
