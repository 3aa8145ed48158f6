/** A transport to a stdio server whose process the daemon runs and shares: the same messages, over a socket. */

import type { Duplex } from 'node:stream';
import { LEAVING, type ServerFrame, STOPPED } from '../daemon/protocol/daemon-messages.ts';
import { decodeError, ERROR_KEY } from '../daemon/protocol/error-codec.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord, parseRecord } from '../lib/json.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import { LineCutter } from '../lib/lines.ts';
import type { Receiver, Transport } from './contract.ts';

/** How long the daemon may take to clean up after this session. */
const GOODBYE_MS = 15_000;
/** The longest line that the daemon reads. */
const MAX_LINE_CHARS: number = 16 * 1024 * 1024;

/** `socket`: after the handshake with the daemon; nothing has been read from it since. */
export function createAttachedTransport(socket: Duplex): Transport {
  return new AttachedTransport(socket);
}

class AttachedTransport implements Transport {
  readonly kind = 'stdio';
  readonly streamPerRequest = false;
  readonly #socket: Duplex;
  readonly #gone: Promise<void>;
  #pid: number | undefined;
  /** The reason for the end, if the daemon sent one. */
  #reason: PlugboardError | undefined;
  #closing = false;

  constructor(socket: Duplex) {
    this.#socket = socket;
    this.#gone = new Promise((resolve) => {
      socket.once('close', resolve);
    });
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  async open(receiver: Receiver, signal?: AbortSignal): Promise<void> {
    const socket = this.#socket;
    if (signal?.aborted) {
      await this.close();
      throw new PlugboardError('CANCELLED', 'The start was cancelled');
    }
    const lines = new LineCutter((line) =>
      this.#received(receiver, line.toString('utf8', 0, line.length - 1)),
    );
    socket.on('data', (chunk: Buffer) => lines.push(chunk));
    socket.once('end', () => socket.end());
    void this.#gone.then(() => receiver.closed(this.#closing ? undefined : (this.#reason ?? lost())));
    socket.resume();
  }

  async send(message: JsonRpcMessage): Promise<void> {
    const socket = this.#socket;
    if (!socket.writable || this.#reason !== undefined) throw notSent('The daemon has exited');
    const line = JSON.stringify(message);
    if (line.length > MAX_LINE_CHARS) throw tooLong();
    if (socket.write(`${line}\n`)) return;
    // Backpressure: wait until the daemon has read the data.
    await Promise.race([new Promise<void>((resolve) => socket.once('drain', resolve)), this.#gone]);
  }

  negotiated(): void {
    // Frames do not depend on the protocol version.
  }

  async close(): Promise<void> {
    this.#closing = true;
    const late = setTimeout(() => this.#socket.destroy(), GOODBYE_MS);
    this.#socket.end();
    // The remaining data must be read, or the end of the socket is never detected.
    this.#socket.resume();
    await this.#gone;
    clearTimeout(late);
  }

  #received(receiver: Receiver, line: string): void {
    if (line === LEAVING) {
      this.#reason = notSent('The daemon has ended this session');
      return;
    }
    if (line === STOPPED) {
      this.#reason = notSent('The daemon was stopped', true);
      return;
    }
    const frame = parseRecord(line);
    if (frame === undefined)
      receiver.notice({ level: 'warning', message: 'the daemon sent a line that is not JSON' });
    else if ('plugboard' in frame) this.#control(frame as unknown as ServerFrame);
    else if (!this.#failed(receiver, frame)) receiver.message(frame as unknown as JsonRpcMessage);
  }

  #control(frame: ServerFrame): void {
    if (frame.plugboard === 'started') this.#pid = frame.pid;
    else if (frame.plugboard === 'ended') this.#reason = decodeError(frame.error);
  }

  /** Handles an error response of the daemon itself, with an encoded PlugboardError. */
  #failed(receiver: Receiver, { id, error }: Readonly<Record<string, unknown>>): boolean {
    const data = isRecord(error) ? error['data'] : undefined;
    const failure = isRecord(data) ? decodeError(data[ERROR_KEY]) : undefined;
    if (failure === undefined || (typeof id !== 'number' && typeof id !== 'string')) return false;
    receiver.lost(id, failure);
    return true;
  }
}

function lost(): PlugboardError {
  return new PlugboardError(
    'CONNECTION_LOST',
    'The connection to the daemon was lost; the request may or may not have run',
    {
      hint: 'Check the result before you try again. The reason is in run/daemon.log of the configuration folder.',
    },
  );
}

function tooLong(): PlugboardError {
  const most = MAX_LINE_CHARS / 1024 / 1024;
  return new PlugboardError('LIMIT_EXCEEDED', `A message to a shared server may have ${most} MB`, {
    hint: 'Give the server "shared": false, and it has a process of its own.',
    detail: { notSent: true },
  });
}

/** None of the unanswered requests was started. */
function notSent(message: string, atRest = false): PlugboardError {
  return new PlugboardError('CONNECT_FAILED', message, {
    detail: { notSent: true, ...(atRest ? { atRest } : {}) },
  });
}
