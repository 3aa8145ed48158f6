/** Events of one host, and calls and questions of every host, numbered and buffered for readers that reconnect. */

import type { ServerResponse } from 'node:http';
import type { Host } from '../host/host.ts';
import type { HostEvents } from '../host/host-options.ts';
import type { Clock } from '../lib/clock.ts';
import { TRAFFIC_EVENTS, type Traffic } from './traffic.ts';

/** Limits of the buffer for readers that reconnect. */
const MAX_KEPT_EVENTS = 1_000;
const MAX_KEPT_CHARS: number = 4 * 1024 * 1024;
/** A reader with more unread bytes is disconnected; it reconnects and resumes. */
const MAX_UNREAD_BYTES: number = 1024 * 1024;
const MAX_READERS = 64;
const HEARTBEAT_MS = 15_000;

const HOST_EVENTS = [
  'ready',
  'tools',
  'resources',
  'prompts',
  'login',
  'elicitation.complete',
  'log',
  'task',
] as const satisfies readonly (keyof HostEvents)[];

export const EVENT_NAMES: readonly string[] = ['server', ...HOST_EVENTS, ...TRAFFIC_EVENTS];

/** Events of this API only: the clients that are connected now, and a change that was made over it. */
export const PAGE_EVENTS = ['client', 'config'] as const;

interface Kept {
  readonly id: number;
  readonly text: string;
}

export class EventLog {
  readonly #kept: Kept[] = [];
  readonly #readers = new Map<ServerResponse, () => void>();
  readonly #stops: readonly (() => void)[];
  readonly #clock: Clock;
  /** Distinguishes the numbers of two runs: after a restart a stream cannot be resumed. */
  readonly #run: string;
  #keptChars = 0;
  /** Before the first reader no event id is known to a client: nothing must be buffered. */
  #wasRead = false;
  #last = 0;
  #stopHeartbeat: () => void = () => {};

  /** `shown` returns a server as the API shows it. */
  constructor(
    host: Pick<Host, 'on'>,
    traffic: Pick<Traffic, 'on'>,
    clock: Clock,
    shown: (report: HostEvents['server']) => unknown = (report) => report,
  ) {
    this.#clock = clock;
    this.#run = clock.now().toString(36);
    this.#stops = [
      ...HOST_EVENTS.map((name) => host.on(name, (event) => this.#record(name, event))),
      host.on('server', (report) => this.#record('server', shown(report))),
      ...TRAFFIC_EVENTS.map((name) => traffic.on(name, (event) => this.#record(name, event))),
    ];
  }

  get isFull(): boolean {
    return this.#readers.size >= MAX_READERS;
  }

  /**
   * Streams to `response` until it is closed, starting after the reader's last event. A reader that missed more than
   * is buffered gets the event `missed`, and has to fetch everything again.
   */
  stream(response: ServerResponse, lastEventId: string | undefined, onGone: () => void): void {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
    response.write(': here is everything that happens\n\n');
    const seen = lastEventId === undefined ? this.#last : this.#numberOf(lastEventId);
    const first = this.#kept[0]?.id ?? this.#last + 1;
    if (seen === undefined || seen < first - 1) response.write('event: missed\ndata: {}\n\n');
    else for (const { id, text } of this.#kept) if (id > seen) response.write(text);
    this.#wasRead = true;
    this.#readers.set(response, onGone);
    if (this.#readers.size === 1) this.#beat();
    response.once('close', () => this.#leave(response));
  }

  /** Sends an event of this API. */
  announce(name: (typeof PAGE_EVENTS)[number], event: object): void {
    this.#record(name, event);
  }

  close(): void {
    for (const stop of this.#stops) stop();
    for (const response of [...this.#readers.keys()]) {
      this.#leave(response);
      response.end();
    }
  }

  #record(name: string, event: unknown): void {
    this.#last += 1;
    if (!this.#wasRead) return;
    const id = this.#last;
    const text = `id: ${this.#run}-${id}\nevent: ${name}\ndata: ${JSON.stringify(event)}\n\n`;
    this.#kept.push({ id, text });
    this.#keptChars += text.length;
    while (this.#kept.length > MAX_KEPT_EVENTS || this.#keptChars > MAX_KEPT_CHARS) {
      this.#keptChars -= this.#kept.shift()?.text.length ?? 0;
    }
    this.#send(text);
  }

  #send(text: string): void {
    for (const response of this.#readers.keys()) {
      response.write(text);
      if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
    }
  }

  /** Sends heartbeats: proxies and clients close silent connections. */
  #beat(): void {
    this.#stopHeartbeat = this.#clock.after(HEARTBEAT_MS, () => {
      this.#send(': still here\n\n');
      this.#beat();
    });
  }

  #leave(response: ServerResponse): void {
    const onGone = this.#readers.get(response);
    if (!this.#readers.delete(response)) return;
    if (this.#readers.size === 0) this.#stopHeartbeat();
    onGone?.();
  }

  #numberOf(eventId: string): number | undefined {
    const [run, digits = ''] = eventId.split('-');
    return run === this.#run && /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
  }
}
