/** One connection between two replicas: writes frames in batches, and closes itself if the other side is silent. */

import type { TLSSocket } from 'node:tls';
import { FRAME, type Frame, FrameReader, frameOf } from './link-frames.ts';

const PING_MS = 1_000;
/** Without a byte for this long, the other replica is treated as unreachable. */
const SILENT_MS = 4_000;

export interface LinkEvents {
  received(frame: Frame): void;
  closed(): void;
}

export class LinkSocket {
  readonly #socket: TLSSocket;
  readonly #pinger: NodeJS.Timeout;
  #queued: Buffer[] = [];
  #silentMs = 0;
  #isClosed = false;

  constructor(socket: TLSSocket, events: LinkEvents) {
    this.#socket = socket;
    socket.setNoDelay(true);
    const reader = new FrameReader((frame) => {
      if (frame.type === FRAME.ping) this.send(frameOf(FRAME.pong, 0));
      else if (frame.type !== FRAME.pong) events.received(frame);
    });
    socket.on('data', (chunk: Buffer) => {
      this.#silentMs = 0;
      try {
        reader.add(chunk);
      } catch {
        socket.destroy();
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isClosed = true;
      clearInterval(this.#pinger);
      events.closed();
    });
    this.#pinger = setInterval(() => {
      this.#silentMs += PING_MS;
      if (this.#silentMs > SILENT_MS) socket.destroy();
      else this.send(frameOf(FRAME.ping, 0));
    }, PING_MS);
    this.#pinger.unref();
  }

  get isClosed(): boolean {
    return this.#isClosed || this.#socket.destroyed;
  }

  /** Bytes that the other replica has not read. */
  get backlog(): number {
    return this.#socket.writableLength;
  }

  /** Frames of one turn of the event loop are one write: each write is encrypted and sent on its own. */
  send(frame: Buffer): void {
    this.#queued.push(frame);
    if (this.#queued.length > 1) return;
    setImmediate(() => {
      const frames = this.#queued;
      this.#queued = [];
      const [only] = frames;
      if (!this.isClosed && only !== undefined)
        this.#socket.write(frames.length === 1 ? only : Buffer.concat(frames));
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}
