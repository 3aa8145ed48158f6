/** Streams the lines of one server's log, as they are written, to readers that may resume. */

import type { ServerResponse } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import { LogReader } from '../transport/server-log-reader.ts';

/** Lines are written with a delay of 100 ms. */
const POLL_MS = 200;
const HEARTBEAT_MS = 15_000;
const MAX_READERS = 16;
/** A reader with more unread bytes is disconnected; it resumes. */
const MAX_UNREAD_BYTES: number = 1024 * 1024;

export class LogStreams {
  readonly #clock: Clock;
  readonly #open = new Set<ServerResponse>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isFull(): boolean {
    return this.#open.size >= MAX_READERS;
  }

  /** Sends lines after `cursor`, else those written from now on, until the response is closed. */
  stream(response: ServerResponse, server: string, file: string, cursor: string | undefined): void {
    const reader = new LogReader(server, file, cursor);
    if (cursor === undefined) reader.next();
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
    response.write(': the log of one server\n\n');
    this.#open.add(response);
    let stop = (): void => {};
    let silentMs = 0;
    const look = (): void => {
      const lines = reader.next();
      for (const [at, { server: _server, ...line }] of lines.entries()) {
        const id = at === lines.length - 1 && reader.cursor !== undefined ? `id: ${reader.cursor}\n` : '';
        response.write(`${id}event: line\ndata: ${JSON.stringify(line)}\n\n`);
      }
      silentMs = lines.length === 0 ? silentMs + POLL_MS : 0;
      if (silentMs >= HEARTBEAT_MS) {
        silentMs = 0;
        response.write(': still here\n\n');
      }
      if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
      else stop = this.#clock.after(POLL_MS, look);
    };
    response.once('close', () => {
      stop();
      this.#open.delete(response);
    });
    look();
  }

  close(): void {
    for (const response of this.#open) response.end();
  }
}
