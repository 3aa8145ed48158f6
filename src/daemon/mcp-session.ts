/** One client on a socket of the daemon: a front of the gateway for a relay, of one server for a host elsewhere. */

import type { Socket } from 'node:net';
import type { Backend } from '../endpoint/backend.ts';
import { type LineClient, openLines } from '../endpoint/stdio.ts';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { LEAVING, type ServerFrame, type Surroundings } from '../remote/hello.ts';
import type { SharedHost } from './hosts.ts';

/** How long a client may take to end its side. */
const PARTING_MS = 2_000;

export interface McpSessionOptions {
  readonly socket: Socket;
  readonly from: Surroundings;
  readonly shared: SharedHost;
  readonly backend: Backend;
  readonly name: string;
  readonly clock: Clock;
}

export class McpSession {
  readonly from: Surroundings;
  readonly shared: SharedHost;
  /** Resolves when the client has gone, or was sent away. */
  readonly left: Promise<void>;
  readonly #socket: Socket;
  readonly #client: LineClient;
  readonly #clock: Clock;
  #moving = false;

  constructor({ socket, from, shared, backend, name, clock }: McpSessionOptions) {
    this.from = from;
    this.shared = shared;
    this.#socket = socket;
    this.#clock = clock;
    this.#client = openLines(backend, name, { input: socket, output: socket });
    const { left, broken, front } = this.#client;
    this.left = Promise.race([left, broken]).then(() =>
      // Nobody reads the answers any more: what runs is cancelled upstream (F55).
      front.close(new PlugboardError('CANCELLED', 'the client has gone away')),
    );
    socket.resume();
  }

  /** Ends the session at a moment when everything is answered, however long that takes. */
  async move(): Promise<void> {
    if (this.#moving) return;
    this.#moving = true;
    // A cancellation has to come through meanwhile, so nothing is held back before that moment.
    while (!this.#client.isAnswered) await this.#client.answered();
    if (!this.#socket.destroyed) await this.leave(LEAVING, 0);
  }

  /** A word of the daemon's own, between the lines of a server. */
  say(frame: ServerFrame): void {
    void this.#client.writer.flushed();
    if (this.#socket.writable) this.#socket.write(`${JSON.stringify(frame)}\n`);
  }

  /** The last word: it is the answer to everything that is waited for. */
  end(frame: ServerFrame): void {
    this.#client.front.close(new PlugboardError('CANCELLED', 'the server has gone away'));
    this.say(frame);
    this.#socket.end();
  }

  /** Ends the session when everything is answered, with a word to the relay; after `graceMs` without one. */
  async leave(word: string, graceMs: number): Promise<void> {
    // What arrives from here on is not begun; the relay says it again elsewhere.
    this.#socket.pause();
    let stopTimer = (): void => {};
    const late = new Promise<void>((resolve) => {
      stopTimer = this.#clock.after(graceMs, resolve);
    });
    await Promise.race([this.#client.answered(), late]);
    stopTimer();
    await this.#client.writer.flushed();
    if (this.#client.isAnswered) this.#socket.write(`${word}\n`);
    this.#socket.end();
    this.#socket.resume();
    // A client that is stopped, or busy with something else, does not keep us.
    const giveUp = this.#clock.after(PARTING_MS, () => this.#socket.destroy());
    await this.left;
    giveUp();
  }
}
