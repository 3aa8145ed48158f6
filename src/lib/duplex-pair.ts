/** Two ends of a connection inside this process: what is written to one is read from the other. */

import { Duplex } from 'node:stream';

/** `allowHalfOpen`, as the daemon's sockets are: each side ends its own direction. */
export function duplexPair(): readonly [Duplex, Duplex] {
  const left = new End();
  const right = new End();
  left.other = right;
  right.other = left;
  return [left, right];
}

class End extends Duplex {
  other: End | undefined;
  /** Set while the other side does not read: called when it does. */
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
    // As a socket does: the other end sees the end of the stream, and nothing more can be written to it.
    if (other !== undefined && !other.destroyed) setImmediate(() => other.destroy());
    this.#resume?.();
    done(error);
  }
}
