/** Splits a byte stream into lines without decoding them. */

const NEWLINE = 0x0a;
const LINE_END: Buffer = Buffer.from([NEWLINE]);
/** A longer line is dropped and reading continues; protocol messages are far shorter. */
export const MAX_LINE_BYTES: number = 256 * 1024 * 1024;

/** Bytes kept from the start and the end of a dropped line: enough to identify the message. */
const RESCUE_BYTES = 4096;

/** First buffer for a line that spans chunks; it doubles, so each byte is copied a limited number of times. */
const FIRST_BUFFER_BYTES = 64 * 1024;
/** A line over `LARGE_LINE_BYTES` gets a large buffer at once: untouched pages cost nothing, copies do. */
const LARGE_LINE_BYTES = 1024 * 1024;
const LARGE_BUFFER_BYTES: number = 64 * 1024 * 1024;

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
  /** Called with the bytes of a line that is being dropped, for each chunk of it. */
  readonly dropping?: (bytes: number) => void;
}

/** Splits at the newline byte, so characters that span chunks need no special handling. */
export class LineCutter {
  readonly #line: (bytes: Buffer) => void;
  readonly #limits: LineLimits;
  /** The incomplete line: the first `#size` bytes of this buffer. */
  #buffer: Buffer | undefined;
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
    const before = this.#buffer?.subarray(0, this.#size);
    this.#size += piece.length;
    if (this.#size > this.#limits.maxBytes) this.#drop(before, piece);
    else if (before === undefined) {
      // Usually a short remainder between two chunks: kept without a buffer of its own.
      this.#buffer = piece;
    } else {
      piece.copy(this.#room(before), before.length);
    }
  }

  /** Returns a buffer that begins with `before` and has room for the line and its end. */
  #room(before: Buffer): Buffer {
    const { maxBytes } = this.#limits;
    if (this.#buffer !== undefined && this.#buffer.length > this.#size) return this.#buffer;
    const least = this.#size > LARGE_LINE_BYTES ? LARGE_BUFFER_BYTES : FIRST_BUFFER_BYTES;
    const room = Math.min(Math.max(this.#size, before.length * 2, least), maxBytes) + 1;
    const grown = Buffer.allocUnsafeSlow(room);
    before.copy(grown);
    this.#buffer = grown;
    return grown;
  }

  #drop(before: Buffer | undefined, piece: Buffer): void {
    const { head, tail } = this.#dropping ?? {
      head: joined(before?.subarray(0, RESCUE_BYTES), piece.subarray(0, RESCUE_BYTES)).subarray(
        0,
        RESCUE_BYTES,
      ),
      tail: before?.subarray(-RESCUE_BYTES),
    };
    const end = joined(tail, piece.subarray(-RESCUE_BYTES)).subarray(-RESCUE_BYTES);
    this.#dropping = { head, tail: end, bytes: this.#size };
    this.#buffer = undefined;
    this.#limits.dropping?.(this.#size);
  }

  #end(): void {
    const [buffer, size, dropped] = [this.#buffer, this.#size, this.#dropping];
    this.#buffer = undefined;
    this.#size = 0;
    this.#dropping = undefined;
    if (dropped !== undefined) this.#limits.dropped(dropped);
    else if (buffer !== undefined && buffer.length > size) {
      buffer[size] = NEWLINE;
      this.#line(buffer.subarray(0, size + 1));
    } else this.#line(joined(buffer, LINE_END));
  }
}

/** Copies, so that a few kept bytes do not keep a whole chunk in memory. */
function joined(first: Buffer | undefined, second: Buffer): Buffer {
  return Buffer.concat(first === undefined ? [second] : [first, second]);
}
