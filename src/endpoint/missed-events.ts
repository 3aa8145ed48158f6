/** Buffers the latest events of a session, for a client that resumes after its stream broke. */

import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import { eventOf } from './response-stream.ts';

const MAX_EVENTS = 256;
const MAX_CHARS: number = 64 * 1024;

interface Kept {
  readonly id: number;
  readonly event: string;
}

export class MissedEvents {
  #kept: Kept[] = [];
  #chars = 0;
  #last: number;

  /** `start`: ids are larger than this. With the current time, they are larger than those of a previous process. */
  constructor(start: number) {
    this.#last = start;
  }

  /** Numbers a message and returns it as an event. */
  keep(message: JsonRpcMessage): string {
    this.#last += 1;
    const event = eventOf(message, String(this.#last));
    this.#kept.push({ id: this.#last, event });
    this.#chars += event.length;
    while (this.#kept.length > MAX_EVENTS || this.#chars > MAX_CHARS) {
      this.#chars -= this.#kept.shift()?.event.length ?? 0;
    }
    return event;
  }

  /** Returns the events after `lastEventId`; empty if it is missing or unknown. */
  since(lastEventId: string | undefined): readonly string[] {
    const seen =
      lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : this.#last;
    return this.#kept.filter(({ id }) => id > seen).map(({ event }) => event);
  }
}
