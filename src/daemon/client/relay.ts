/**
 * Relays one client of the gateway to its host in the daemon: forwards bytes in both directions. If the daemon is
 * lost, the client keeps its connection: a new daemon receives the state of the old one, and only calls with an
 * unknown outcome end, with an error that states it (F58).
 */

import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Home } from '../../config/home.ts';
import { asPlugboardError, PlugboardError } from '../../errors.ts';
import { RPC_INTERNAL_ERROR } from '../../lib/json-rpc.ts';
import { LineCutter } from '../../lib/lines.ts';
import { backoffMs, MAX_REATTACH_TRIES, REATTACH } from '../../lib/retry.ts';
import { placeOf } from '../protocol/daemon-place.ts';
import { type Hello, LEAVING, STOPPED } from '../protocol/hello.ts';
import { type Attached, attachOrStart } from './attach.ts';
import { PendingRequests } from './pending-requests.ts';

/** Time limit for the daemon to finish its work for us. */
const GOODBYE_MS = 15_000;
/** How long responses are awaited when this process is asked to end. */
const GRACE_MS = 5_000;
const LIST_KINDS = ['tools', 'resources', 'prompts'];

/** Length of the line by which a daemon ends a session, with its newline. */
const WORD_BYTES: number = LEAVING.length + 1;

type End = 'lost' | 'leaving' | 'stopped';
const ENDS: ReadonlyMap<string, End> = new Map<string, End>([
  [`${LEAVING}\n`, 'leaving'],
  [`${STOPPED}\n`, 'stopped'],
]);

interface RelayOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** The session that was opened first. */
  readonly first: Socket;
  /** Opens another session, with another daemon if necessary. */
  readonly again: () => Promise<Socket>;
  /** Aborted when this process is asked to end. */
  readonly signal: AbortSignal;
}

/**
 * Resolves when the client has disconnected or this process was asked to end; rejects if no daemon is available any
 * longer.
 */
export function relay(options: RelayOptions): Promise<void> {
  return new Relay(options).run();
}

class Relay {
  readonly #options: RelayOptions;
  readonly #pending = new PendingRequests();
  readonly #incoming: LineCutter;
  #socket: Socket | undefined;
  #clientLeft = false;
  /** A person stopped the daemon: no other is started before the client's next message. */
  #asleep = false;
  #finish: () => void = () => {};
  #fail: (error: unknown) => void = () => {};
  #onAnswered: () => void = () => {};

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#incoming = new LineCutter((line) => this.#fromClient(line));
  }

  run(): Promise<void> {
    const { input, output, first, signal } = this.#options;
    return new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
      input.on('data', (chunk: Buffer) => {
        const socket = this.#socket;
        socket?.cork();
        this.#incoming.push(chunk);
        socket?.uncork();
      });
      input.once('end', () => {
        this.#incoming.end();
        // A script that pipes its requests in gets its responses.
        void this.#leaveWhenAnswered();
      });
      input.once('close', () => {
        if (!input.readableEnded) this.#leave();
      });
      output.once('error', () => this.#leave());
      const asked = (): void => void this.#leaveWhenAnswered();
      if (signal.aborted) asked();
      else signal.addEventListener('abort', asked, { once: true });
      this.#use(first);
    });
  }

  #use(socket: Socket): void {
    const { input, output } = this.#options;
    this.#socket = socket;
    let end: End = 'lost';
    const lines = new LineCutter((line) => {
      const said = line.length === WORD_BYTES ? ENDS.get(line.toString('latin1')) : undefined;
      if (said !== undefined) end = said;
      else if (this.#pending.received(line)) this.#toClient(line);
      if (!this.#pending.hasPending) this.#onAnswered();
    });
    socket.on('data', (chunk: Buffer) => {
      // Lines of one tick are sent in one write.
      output.cork();
      lines.push(chunk);
      output.uncork();
      if (!output.writableNeedDrain) return;
      socket.pause();
      output.once('drain', () => socket.resume());
    });
    socket.on('drain', () => input.resume());
    socket.once('end', () => socket.end());
    socket.once('close', () => {
      if (this.#socket === socket) this.#lost(end);
    });
    socket.resume();
    if (this.#clientLeft) socket.end();
  }

  #fromClient(line: Buffer): void {
    if (line.length === 1) return;
    this.#pending.sent(line);
    if (this.#asleep) this.#wake();
    else this.#toDaemon(line);
  }

  #toDaemon(line: Buffer): void {
    const socket = this.#socket;
    // Not lost: pending requests are sent again to the next daemon.
    if (socket === undefined || !socket.writable) return;
    if (!socket.write(line)) this.#options.input.pause();
  }

  #toClient(line: Buffer): void {
    const { output } = this.#options;
    if (!output.destroyed) output.write(line);
  }

  #lost(end: End): void {
    this.#socket = undefined;
    if (this.#clientLeft) {
      this.#finish();
      return;
    }
    for (const requestId of this.#pending.takeQuestions()) {
      this.#tell({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    }
    // Only a daemon that shut down properly is known to have started no request that it did not answer.
    const lost = end === 'lost' ? this.#pending.takeLost() : [];
    for (const id of lost) this.#tell({ jsonrpc: '2.0', id, error: LOST });
    this.#asleep = end === 'stopped' && !this.#pending.hasPending;
    if (!this.#asleep) this.#wake();
  }

  #wake(): void {
    this.#asleep = false;
    this.#options.input.pause();
    this.#recover().catch((error: unknown) => this.#fail(error));
  }

  async #recover(): Promise<void> {
    const socket = await this.#reattach();
    const again = this.#pending.repeated();
    this.#use(socket);
    for (const frame of this.#pending.opening()) this.#toDaemon(lineOf(frame));
    for (const line of again) this.#toDaemon(line);
    if (this.#pending.isInitialized) {
      // The session's loaded tools are gone, and the new daemon may have other lists.
      for (const kind of LIST_KINDS) {
        this.#tell({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` });
      }
    }
    this.#options.input.resume();
  }

  async #reattach(): Promise<Socket> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#options.again();
      } catch (error) {
        if (tries === MAX_REATTACH_TRIES) throw error;
      }
      await delay(backoffMs(tries + 1, 1, REATTACH));
    }
  }

  #tell(message: object): void {
    this.#toClient(lineOf(message));
  }

  /** Handles the end of the client: the daemon ends its work for it, and closes the socket when that is done. */
  #leave(): void {
    if (this.#clientLeft) return;
    this.#clientLeft = true;
    if (this.#asleep) this.#finish();
    if (this.#socket === undefined) return;
    this.#socket.end();
    this.#socket.resume();
    setTimeout(() => this.#socket?.destroy(), GOODBYE_MS).unref();
  }

  async #leaveWhenAnswered(): Promise<void> {
    this.#options.input.pause();
    if (this.#pending.hasPending) {
      const answered = new Promise<void>((resolve) => {
        this.#onAnswered = resolve;
      });
      await Promise.race([answered, delay(GRACE_MS)]);
    }
    this.#leave();
  }
}

function lineOf(message: object): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`);
}

const LOST = {
  code: RPC_INTERNAL_ERROR,
  message:
    'The daemon was lost while this was worked on, and whether it was done is not known. A new one has taken over: look first, then try again.',
  data: { code: 'CONNECTION_LOST', hint: 'run/daemon.log in the home says what happened to it.' },
};

interface RelayServeOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly hello: Hello;
  readonly signal: AbortSignal;
}

/** Returns false if the daemon cannot serve this session: then the caller serves it itself. */
export async function relayServe({ home, env, hello, signal }: RelayServeOptions): Promise<boolean> {
  const place = placeOf(home);
  if (place === undefined) return false;
  const open = (): Promise<Attached> => attachOrStart(home, place, env, hello);
  const first = await open().catch((error: unknown) => {
    const { message, hint = '' } = asPlugboardError(error);
    process.stderr.write(`plugboard: this agent does not share servers with others: ${message}. ${hint}\n`);
  });
  if (first === undefined) return false;
  if (!first.welcome.ok) {
    first.socket.destroy();
    return false;
  }
  const again = async (): Promise<Socket> => {
    const { socket, welcome } = await open();
    if (welcome.ok) return socket;
    socket.destroy();
    throw new PlugboardError('CONNECTION_LOST', 'The daemon no longer accepts this session', {
      hint: 'Connect this client again.',
    });
  };
  await relay({ input: process.stdin, output: process.stdout, first: first.socket, again, signal });
  return true;
}
