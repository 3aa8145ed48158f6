/** Limits the rate of a server's log messages, cleans them, and reports how many were dropped (CON-13). */

import { attempt } from '../lib/attempt.ts';
import type { Clock } from '../lib/clock.ts';
import { clean } from '../policy/clean.ts';
import { cleanRecord } from '../policy/clean-value.ts';
import { isLogLevel, type LogLevel } from './log-levels.ts';
import type { Params } from './peer.ts';

const MAX_MESSAGES_PER_WINDOW = 100;
const WINDOW_MS = 1_000;
const MAX_MESSAGE_CHARS = 4_096;
/** For the JSON of one message to clients; a longer one is forwarded as truncated text. */
const MAX_PARAMS_CHARS: number = 64 * 1024;

export interface LogMessage {
  readonly level: LogLevel;
  /** The message's data as text. */
  readonly message: string;
  /** The cleaned params of the server's notification; undefined for text from another source. */
  readonly params?: Params;
}

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

  /** Logs text that is not a notification: stderr output of a server, and notices about it. */
  pass(level: string, text: string): void {
    if (this.#isOpen())
      this.#emit({ level: levelOf(level), message: clean(text, { max: MAX_MESSAGE_CHARS }) });
  }

  /** Logs a `notifications/message`. */
  passNotification(params: Params): void {
    if (!this.#isOpen()) return;
    const level = levelOf(params['level']);
    const { data } = params;
    const message = clean(typeof data === 'string' ? data : jsonOf(data), { max: MAX_MESSAGE_CHARS });
    const isLong = jsonOf(params).length > MAX_PARAMS_CHARS;
    const kept = isLong ? { logger: params['logger'], data: message } : params;
    this.#emit({ level, message, params: cleanRecord({ ...kept, level }) });
  }

  #isOpen(): boolean {
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
      return false;
    }
    this.#passed += 1;
    return true;
  }
}

function levelOf(level: unknown): LogLevel {
  return isLogLevel(level) ? level : 'info';
}

function jsonOf(data: unknown): string {
  return attempt(() => JSON.stringify(data), undefined) ?? String(data);
}
