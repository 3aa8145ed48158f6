/** A stream of server-sent events across several connections: resume cursor, limits, and removal of duplicates. */

import { createHash } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { PlugboardError } from '../errors.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import { MAX_ASKED_DELAY_MS } from '../lib/retry.ts';
import type { Receiver } from './contract.ts';
import { type BodyReader, type Exchange, overLimit, parseFrames } from './http-exchange.ts';
import type { HttpLimits } from './http-limits.ts';

/** How many events with an id are remembered to detect duplicates. */
const MAX_SEEN_EVENTS = 1024;

/** Longer ids, or ids that a header cannot contain, are not used as a cursor. */
const MAX_EVENT_ID_CHARS = 1024;
const UNUSABLE_EVENT_ID = /\p{Cc}/u;

export interface StreamEvent {
  readonly type: string;
  readonly data: string;
}

/** Parses the frames of an event; drops an invalid one with a notice. */
export function eventFrames(event: StreamEvent, receiver: Receiver): readonly JsonRpcMessage[] {
  if (event.type !== 'message') return [];
  const frames = parseFrames(event.data);
  if (frames) return frames;
  receiver.notice({ level: 'warning', message: 'Dropped an event that is not a JSON-RPC message.' });
  return [];
}

export class EventStream {
  readonly #limits: HttpLimits;
  readonly #deliver: (event: StreamEvent) => void;
  readonly #seen = new Set<string>();
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #news = false;

  constructor(limits: HttpLimits, deliver: (event: StreamEvent) => void) {
    this.#limits = limits;
    this.#deliver = deliver;
  }

  /** The id to resume from; undefined if the server sends no ids. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** The reconnect delay that the server requested. */
  get retryMs(): number | undefined {
    return this.#retryMs;
  }

  /** Whether the last connection delivered a new event. */
  get news(): boolean {
    return this.#news;
  }

  /** Records a failed attempt without a connection. */
  silent(): void {
    this.#news = false;
  }

  /** Reads one connection to its end. Resolves with the error that broke it, or undefined after a normal end. */
  read(exchange: Exchange): Promise<PlugboardError | undefined> {
    this.#news = false;
    const { maxEventBytes, maxStreamBytes } = this.#limits;
    return new Promise((resolve) => {
      const parser = createParser({
        maxBufferSize: maxEventBytes,
        onEvent: (event) => {
          if (!exchange.over) this.#take(event);
        },
        onRetry: (ms) => {
          this.#retryMs = Math.min(ms, MAX_ASKED_DELAY_MS);
        },
        onError: (error) => {
          if (error.type === 'max-buffer-size-exceeded') exchange.abort(overLimit(maxEventBytes));
        },
      });
      const decoder = new StringDecoder('utf8');
      let beginning = true;
      const reader: BodyReader = {
        chunk(bytes) {
          const text = decoder.write(bytes);
          if (text === '') return;
          parser.feed(beginning && text.startsWith('\uFEFF') ? text.slice(1) : text);
          beginning = false;
        },
        end: () => resolve(undefined),
        failed: resolve,
      };
      exchange.read(reader, { maxBytes: maxStreamBytes, steady: false });
    });
  }

  #take(event: EventSourceMessage): void {
    if (event.id && event.id.length <= MAX_EVENT_ID_CHARS && !UNUSABLE_EVENT_ID.test(event.id)) {
      // Some servers give every event the same id: only the same id with the same data is a duplicate.
      const key = `${event.id}\n${createHash('sha1').update(event.data).digest('base64')}`;
      this.#lastEventId = event.id;
      if (this.#seen.has(key)) return;
      this.#seen.add(key);
      for (const oldest of this.#seen) {
        if (this.#seen.size <= MAX_SEEN_EVENTS) break;
        this.#seen.delete(oldest);
      }
    }
    this.#news = true;
    // An event without data only sets the cursor.
    if (event.data !== '') this.#deliver({ type: event.event ?? 'message', data: event.data });
  }
}
