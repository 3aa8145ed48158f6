/** Cuts a stream of bytes into lines without decoding them. */

const NEWLINE = 0x0a;
/** A line that is longer is dropped and the next one is read; no message of the protocol comes near it. */
export const MAX_LINE_BYTES: number = 256 * 1024 * 1024;

/** What is remembered of the beginning and of the end of a line that is dropped: enough to see whose it was. */
const RESCUE_BYTES = 4096;

/** A line that was dropped. */
export interface Dropped {
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly bytes: number;
}

export interface LineLimits {
  readonly maxBytes: number;
  /** Told at the end of a line that was longer. */
  readonly dropped: (line: Dropped) => void;
}

export class LineCutter {
  readonly #line: (bytes: Buffer) => void;
  readonly #limits: LineLimits;
  #parts: Buffer[] = [];
  #size = 0;
  #dropping: Dropped | undefined;

  /** `line` is given each line without its end. */
  constructor(
    line: (bytes: Buffer) => void,
    limits: LineLimits = { maxBytes: MAX_LINE_BYTES, dropped: () => {} },
  ) {
    this.#line = line;
    this.#limits = limits;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      from = end + 1;
      this.#end();
    }
    if (from < chunk.length) this.#keep(from === 0 ? chunk : chunk.subarray(from));
  }

  /** Nothing more comes: what has no end yet is a line, too. */
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
    else this.#line(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts));
  }
}
