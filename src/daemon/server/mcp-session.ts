/** One MCP client of the daemon: of the gateway for a relay, of one server for another host. */

import type { Duplex } from 'node:stream';
import type { Backend } from '../../endpoint/backend.ts';
import { type LineClient, openLines } from '../../endpoint/serve-lines.ts';
import { PlugboardError } from '../../errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { inTime } from '../../lib/waits.ts';
import { LEAVING, type ServerFrame } from '../protocol/daemon-messages.ts';

/** Time for a client to close its end. */
const PARTING_MS = 2_000;

export interface McpSessionOptions {
  readonly socket: Duplex;
  readonly backend: Backend;
  readonly name: string;
  readonly clock: Clock;
}

export class McpSession {
  /** Resolves when the client has disconnected, or was disconnected. */
  readonly left: Promise<void>;
  readonly #socket: Duplex;
  readonly #client: LineClient;
  readonly #clock: Clock;
  #moving = false;

  constructor({ socket, backend, name, clock }: McpSessionOptions) {
    this.#socket = socket;
    this.#clock = clock;
    this.#client = openLines(backend, name, { input: socket, output: socket });
    const { left, broken, clientConnection } = this.#client;
    this.left = Promise.race([left, broken]).then(() =>
      // The responses are no longer read: running calls are cancelled upstream (F55).
      clientConnection.close(new PlugboardError('CANCELLED', 'The client disconnected')),
    );
    socket.resume();
  }

  /** Ends the session at a moment when all requests are answered, however long that takes. */
  async move(): Promise<void> {
    if (this.#moving) return;
    this.#moving = true;
    // A cancellation must still get through, so input is not paused before that moment.
    while (!this.#client.isAnswered) await this.#client.answered();
    if (!this.#socket.destroyed) await this.leave(LEAVING, 0);
  }

  /** Sends a frame of the daemon between the lines of a server. */
  send(frame: ServerFrame): void {
    void this.#client.writer.flushed();
    if (this.#socket.writable) this.#socket.write(`${JSON.stringify(frame)}\n`);
  }

  /** Sends the last frame, which answers every open request. */
  end(frame: ServerFrame): void {
    this.#client.clientConnection.close(new PlugboardError('CANCELLED', 'The server exited'));
    this.send(frame);
    this.#socket.end();
  }

  /** Ends the session when every request is answered, and sends `word` to the relay; after `graceMs` without it. */
  async leave(word: string, graceMs: number): Promise<void> {
    // Requests that arrive from here on are not started; the relay sends them to the next daemon.
    this.#socket.pause();
    await inTime(this.#client.answered(), graceMs, this.#clock, undefined);
    await this.#client.writer.flushed();
    if (this.#client.isAnswered) this.#socket.write(`${word}\n`);
    this.#socket.end();
    this.#socket.resume();
    // A suspended client must not delay the end.
    const giveUp = this.#clock.after(PARTING_MS, () => this.#socket.destroy());
    await this.left;
    giveUp();
  }
}
