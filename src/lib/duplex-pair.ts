/** An in-process connection of two duplex streams: data written to one is read from the other. */

import { Duplex } from 'node:stream';

/** Creates the pair with `allowHalfOpen`, like the daemon's sockets: each side ends its own direction. */
export function duplexPair(): readonly [Duplex, Duplex] {
  const left = new End();
  const right = new End();
  left.other = right;
  right.other = left;
  return [left, right];
}

class End extends Duplex {
  other: End | undefined;
  /** Set while the other side does not read; called when it reads again. */
  #resume: (() => void) | undefined;

  constructor() {
    super({ allowHalfOpen: true });
  }

  override _read(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.other === undefined || this.other.destroyed || this.other.push(chunk)) done();
    else this.other.#resume = done;
  }

  override _final(done: () => void): void {
    this.other?.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { other } = this;
    this.other = undefined;
    // Like a socket: the other end sees the end of the stream and cannot write anymore.
    if (other !== undefined && !other.destroyed) setImmediate(() => other.destroy());
    this.#resume?.();
    done(error);
  }
}
