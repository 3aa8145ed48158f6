/** Splits a byte stream into lines without decoding them. */

const NEWLINE = 0x0a;
const LINE_END: Buffer = Buffer.from([NEWLINE]);
/** A longer line is dropped and reading continues; protocol messages are far shorter. */
export const MAX_LINE_BYTES: number = 256 * 1024 * 1024;

/** Bytes kept from the start and the end of a dropped line: enough to identify the message. */
const RESCUE_BYTES = 4096;

/** A shorter piece of a line is copied into a buffer with its neighbours, so that few objects hold a line. */
const SMALL_PIECE_BYTES = 16 * 1024;
const PIECE_BYTES = 64 * 1024;
/** A line over `LARGE_LINE_BYTES` gets a large buffer at once: untouched pages cost nothing, copies do. */
const LARGE_LINE_BYTES: number = 8 * 1024 * 1024;
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

/** The bytes of a line that has not ended: in pieces, which are joined once; from a limit on in one large buffer. */
class PartialLine {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  /** How much of the last piece is filled, if it has room for more. */
  #filled: number | undefined;
  #large: Buffer | undefined;
  size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(piece: Buffer): void {
    const before = this.size;
    this.size += piece.length;
    if (this.#large === undefined && this.size <= LARGE_LINE_BYTES) this.#addPiece(piece);
    else piece.copy(this.#room(before), before);
  }

  /** Returns the line with its line end, and empties this. */
  take(): Buffer {
    const { size } = this;
    const large = this.#large;
    if (large !== undefined) large[size] = NEWLINE;
    const line =
      large === undefined ? Buffer.concat([...this.#parts(), LINE_END]) : large.subarray(0, size + 1);
    this.clear();
    return line;
  }

  /** Returns copies, so that a few kept bytes do not keep a whole chunk in memory. */
  ends(bytes: number): { readonly head: Buffer; readonly tail: Buffer } {
    const parts = this.#large === undefined ? this.#parts() : [this.#large.subarray(0, this.size)];
    const whole = Buffer.concat(parts);
    return { head: Buffer.from(whole.subarray(0, bytes)), tail: Buffer.from(whole.subarray(-bytes)) };
  }

  clear(): void {
    this.#pieces = [];
    this.#filled = undefined;
    this.#large = undefined;
    this.size = 0;
  }

  #addPiece(piece: Buffer): void {
    const last = this.#pieces.at(-1);
    const filled = this.#filled;
    if (last !== undefined && filled !== undefined && filled + piece.length <= last.length) {
      piece.copy(last, filled);
      this.#filled = filled + piece.length;
      return;
    }
    this.#pieces = this.#parts();
    // The first piece is kept as it is: usually a short remainder between two chunks.
    const isCopied = piece.length < SMALL_PIECE_BYTES && this.#pieces.length > 0;
    this.#filled = isCopied ? piece.length : undefined;
    if (isCopied) {
      const shared = Buffer.allocUnsafeSlow(PIECE_BYTES);
      piece.copy(shared);
      this.#pieces.push(shared);
    } else this.#pieces.push(piece);
  }

  /** Returns the pieces without unused room. */
  #parts(): Buffer[] {
    const last = this.#pieces.at(-1);
    if (last === undefined || this.#filled === undefined) return this.#pieces;
    return [...this.#pieces.slice(0, -1), last.subarray(0, this.#filled)];
  }

  /** Returns a buffer that begins with the bytes so far and has room for the line and its end. */
  #room(before: number): Buffer {
    if (this.#large !== undefined && this.#large.length > this.size) return this.#large;
    const room = Math.min(Math.max(this.size, before * 2, LARGE_BUFFER_BYTES), this.#maxBytes) + 1;
    const grown = Buffer.allocUnsafeSlow(room);
    let at = 0;
    for (const part of this.#large === undefined ? this.#parts() : [this.#large.subarray(0, before)])
      at += part.copy(grown, at);
    this.#pieces = [];
    this.#filled = undefined;
    this.#large = grown;
    return grown;
  }
}

/** Splits at the newline byte, so characters that span chunks need no special handling. */
export class LineCutter {
  readonly #line: (bytes: Buffer) => void;
  readonly #limits: LineLimits;
  readonly #partial: PartialLine;
  #dropping: Dropped | undefined;

  /** `line` is called with each line including its line end, so that it can be forwarded in one piece. */
  constructor(
    line: (bytes: Buffer) => void,
    limits: LineLimits = { maxBytes: MAX_LINE_BYTES, dropped: () => {} },
  ) {
    this.#line = line;
    this.#limits = limits;
    this.#partial = new PartialLine(limits.maxBytes);
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      // Fast path: nearly every line arrives in one chunk, and often alone.
      if (!this.#hasBegun && at - from <= this.#limits.maxBytes)
        this.#line(from === 0 && at + 1 === chunk.length ? chunk : chunk.subarray(from, at + 1));
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
    if (this.#hasBegun) this.#end();
  }

  get #hasBegun(): boolean {
    return this.#dropping !== undefined || this.#partial.size > 0;
  }

  #keep(piece: Buffer): void {
    const { maxBytes } = this.#limits;
    if (this.#dropping === undefined && this.#partial.size + piece.length <= maxBytes)
      this.#partial.add(piece);
    else this.#drop(piece);
  }

  #drop(piece: Buffer): void {
    const { head, tail, bytes } = this.#dropping ?? {
      ...this.#partial.ends(RESCUE_BYTES),
      bytes: this.#partial.size,
    };
    this.#partial.clear();
    this.#dropping = {
      head: Buffer.concat([head, piece.subarray(0, RESCUE_BYTES - head.length)]),
      tail: Buffer.concat([tail, piece.subarray(-RESCUE_BYTES)]).subarray(-RESCUE_BYTES),
      bytes: bytes + piece.length,
    };
    this.#limits.dropping?.(this.#dropping.bytes);
  }

  #end(): void {
    const dropped = this.#dropping;
    this.#dropping = undefined;
    if (dropped === undefined) this.#line(this.#partial.take());
    else this.#limits.dropped(dropped);
  }
}
