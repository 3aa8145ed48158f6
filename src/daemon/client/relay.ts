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
import { sentences } from '../../lib/sentences.ts';
import { type AttachRequest, LEAVING, STOPPED } from '../protocol/daemon-messages.ts';
import { placeOf } from '../protocol/daemon-place.ts';
import { type Attached, attachOrStart } from './attach.ts';
import { PendingRequests } from './pending-requests.ts';

/** Time limit for the daemon to finish its work for us. */
const CLOSE_MS = 15_000;
/** How long responses are awaited when this process is asked to end. */
const GRACE_MS = 5_000;
const LIST_KINDS = ['tools', 'resources', 'prompts'];
const NEWLINE = 0x0a;

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
  readonly reattach: () => Promise<Socket>;
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
  #clientGone = false;
  /** A person stopped the daemon: no other is started before the client's next message. */
  #waitsForClient = false;
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
        const corked = isOneLine(chunk) ? undefined : this.#socket;
        corked?.cork();
        this.#incoming.push(chunk);
        corked?.uncork();
      });
      input.once('end', () => {
        this.#incoming.end();
        // A script that pipes its requests in gets its responses.
        void this.#closeWhenAnswered();
      });
      input.once('close', () => {
        if (!input.readableEnded) this.#closeSession();
      });
      output.once('error', () => this.#closeSession());
      const asked = (): void => void this.#closeWhenAnswered();
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
      const ending = line.length === WORD_BYTES ? ENDS.get(line.toString('latin1')) : undefined;
      if (ending !== undefined) end = ending;
      else if (this.#pending.received(line)) this.#toClient(line);
      if (!this.#pending.hasPending) this.#onAnswered();
    });
    socket.on('data', (chunk: Buffer) => {
      // Lines of one chunk are sent in one write.
      const corked = isOneLine(chunk) ? undefined : output;
      corked?.cork();
      lines.push(chunk);
      corked?.uncork();
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
    if (this.#clientGone) socket.end();
  }

  #fromClient(line: Buffer): void {
    if (line.length === 1) return;
    this.#pending.sent(line);
    if (this.#waitsForClient) this.#reconnect();
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
    if (this.#clientGone) {
      this.#finish();
      return;
    }
    for (const requestId of this.#pending.takeQuestions()) {
      this.#notifyClient({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    }
    // Only a daemon that shut down properly is known to have started no request that it did not answer.
    const lost = end === 'lost' ? this.#pending.takeLost() : [];
    for (const id of lost) this.#notifyClient({ jsonrpc: '2.0', id, error: LOST_REPLY });
    this.#waitsForClient = end === 'stopped' && !this.#pending.hasPending;
    if (!this.#waitsForClient) this.#reconnect();
  }

  #reconnect(): void {
    this.#waitsForClient = false;
    this.#options.input.pause();
    this.#recover().catch((error: unknown) => this.#fail(error));
  }

  async #recover(): Promise<void> {
    const socket = await this.#reattach();
    const repeated = this.#pending.repeated();
    this.#use(socket);
    for (const frame of this.#pending.opening()) this.#toDaemon(lineOf(frame));
    for (const line of repeated) this.#toDaemon(line);
    if (this.#pending.isInitialized) {
      // The session's loaded tools are gone, and the new daemon may have other lists.
      for (const kind of LIST_KINDS) {
        this.#notifyClient({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` });
      }
    }
    this.#options.input.resume();
  }

  async #reattach(): Promise<Socket> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#options.reattach();
      } catch (error) {
        if (tries === MAX_REATTACH_TRIES) throw error;
      }
      await delay(backoffMs(tries + 1, 1, REATTACH));
    }
  }

  #notifyClient(message: object): void {
    this.#toClient(lineOf(message));
  }

  /** Handles the end of the client: the daemon ends its work for it, and closes the socket when that is done. */
  #closeSession(): void {
    if (this.#clientGone) return;
    this.#clientGone = true;
    if (this.#waitsForClient) this.#finish();
    if (this.#socket === undefined) return;
    this.#socket.end();
    this.#socket.resume();
    setTimeout(() => this.#socket?.destroy(), CLOSE_MS).unref();
  }

  async #closeWhenAnswered(): Promise<void> {
    this.#options.input.pause();
    if (this.#pending.hasPending) {
      const answered = new Promise<void>((resolve) => {
        this.#onAnswered = resolve;
      });
      await Promise.race([answered, delay(GRACE_MS)]);
    }
    this.#closeSession();
  }
}

/** Most chunks are: then there is nothing to hold back. */
function isOneLine(chunk: Buffer): boolean {
  return chunk.indexOf(NEWLINE) === chunk.length - 1;
}

function lineOf(message: object): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`);
}

const LOST_REPLY = {
  code: RPC_INTERNAL_ERROR,
  message: 'The daemon ended while it handled this request, which may or may not have finished',
  data: {
    code: 'CONNECTION_LOST',
    hint: 'Check the result before you try again. The reason is in run/daemon.log of the configuration folder.',
  },
};

interface RelayServeOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly request: AttachRequest;
  readonly signal: AbortSignal;
}

/** Returns false if the daemon cannot serve this session: then the caller serves it itself. */
export async function relayServe({ home, env, request, signal }: RelayServeOptions): Promise<boolean> {
  const place = placeOf(home);
  if (place === undefined) return false;
  const open = (): Promise<Attached> => attachOrStart(home, place, env, request);
  const first = await open().catch((error: unknown) => {
    const { message, hint } = asPlugboardError(error);
    process.stderr.write(
      `plugboard: servers are not shared with other agents: ${sentences(message, hint)}\n`,
    );
  });
  if (first === undefined) return false;
  if (!first.response.ok) {
    first.socket.destroy();
    return false;
  }
  const reattach = async (): Promise<Socket> => {
    const { socket, response } = await open();
    if (response.ok) return socket;
    socket.destroy();
    throw new PlugboardError('CONNECTION_LOST', 'The daemon no longer accepts this session', {
      hint: 'Restart the MCP connection of this client.',
    });
  };
  await relay({ input: process.stdin, output: process.stdout, first: first.socket, reattach, signal });
  return true;
}
