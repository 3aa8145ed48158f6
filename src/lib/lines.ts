/** Splits a byte stream into lines without decoding them. */

const NEWLINE = 0x0a;
const LINE_END: Buffer = Buffer.from([NEWLINE]);
/** A longer line is dropped and reading continues; protocol messages are far shorter. */
export const MAX_LINE_BYTES: number = 256 * 1024 * 1024;

/** Bytes kept from the start and the end of a dropped line: enough to identify the message. */
const RESCUE_BYTES = 4096;

/** A line that was dropped. */
export interface Dropped {
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly bytes: number;
}

export interface LineLimits {
  readonly maxBytes: number;
  /** Called at the end of a line that was too long. */
  readonly dropped: (line: Dropped) => void;
}

export class LineCutter {
  readonly #line: (bytes: Buffer) => void;
  readonly #limits: LineLimits;
  #parts: Buffer[] = [];
  #size = 0;
  #dropping: Dropped | undefined;

  /** `line` is called with each line including its line end, so that it can be forwarded in one piece. */
  constructor(
    line: (bytes: Buffer) => void,
    limits: LineLimits = { maxBytes: MAX_LINE_BYTES, dropped: () => {} },
  ) {
    this.#line = line;
    this.#limits = limits;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      // Fast path: nearly every line arrives in one chunk.
      if (this.#size === 0 && at - from <= this.#limits.maxBytes) this.#line(chunk.subarray(from, at + 1));
      else {
        this.#keep(chunk.subarray(from, at));
        this.#end();
      }
      from = at + 1;
    }
    if (from < chunk.length) this.#keep(from === 0 ? chunk : chunk.subarray(from));
  }

  /** Ends the stream: an unterminated line is a line, too. */
  end(): void {
    if (this.#size > 0) this.#end();
  }

  #keep(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#size <= this.#limits.maxBytes) {
      this.#parts.push(piece);
      return;
    }
    const head = this.#dropping?.head ?? Buffer.concat([...this.#parts, piece]).subarray(0, RESCUE_BYTES);
    const before = this.#dropping?.tail ?? Buffer.concat(this.#parts);
    const tail = Buffer.concat([before.subarray(-RESCUE_BYTES), piece.subarray(-RESCUE_BYTES)]);
    this.#dropping = { head: Buffer.from(head), tail: tail.subarray(-RESCUE_BYTES), bytes: this.#size };
    this.#parts = [];
  }

  #end(): void {
    const [parts, dropped] = [this.#parts, this.#dropping];
    this.#parts = [];
    this.#size = 0;
    this.#dropping = undefined;
    if (dropped !== undefined) this.#limits.dropped(dropped);
    else this.#line(Buffer.concat([...parts, LINE_END]));
  }
}
