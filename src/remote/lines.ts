/** Cuts a stream of bytes into lines without decoding them. */

const NEWLINE = 0x0a;
/** A line that is longer is dropped and the next one is read; no message of the protocol comes near it. */
export const MAX_LINE_BYTES: number = 256 * 1024 * 1024;

export class LineCutter {
  readonly #line: (bytes: Buffer) => void;
  #parts: Buffer[] = [];
  #size = 0;
  #dropping = false;

  /** `line` is given each line without its end. */
  constructor(line: (bytes: Buffer) => void) {
    this.#line = line;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, end);
      from = end + 1;
      if (this.#dropping) this.#dropping = false;
      else this.#line(this.#parts.length === 0 ? piece : Buffer.concat([...this.#parts, piece]));
      this.#forget();
    }
    if (from === chunk.length || this.#dropping) return;
    this.#parts.push(from === 0 ? chunk : chunk.subarray(from));
    this.#size += chunk.length - from;
    if (this.#size <= MAX_LINE_BYTES) return;
    this.#dropping = true;
    this.#forget();
  }

  /** Nothing more comes: what has no end yet is a line, too. */
  end(): void {
    if (this.#size > 0) this.push(Buffer.from([NEWLINE]));
  }

  #forget(): void {
    this.#parts = [];
    this.#size = 0;
  }
}
