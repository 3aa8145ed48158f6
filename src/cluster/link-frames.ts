/** The frames of a connection between two replicas: a length, a type, the number of a request, and bytes. */

/** `open`: a request; `whole`: a complete response; `head`, `data` and `end`: a response in parts. */
export const FRAME = {
  open: 1,
  whole: 2,
  head: 3,
  data: 4,
  end: 5,
  abort: 6,
  closing: 7,
  ping: 8,
  pong: 9,
} as const;

const HEADER_BYTES = 9;
const LENGTH_BYTES = 4;
const STREAM_AT = 5;
const HEAD_LENGTH_BYTES = 4;
/** Larger than a body of a request, and than a part of a response. */
const MAX_FRAME_BYTES: number = 20 * 1024 * 1024;
/** A response is sent in parts of this size, so that others get their turn. */
export const PART_BYTES: number = 1024 * 1024;

export interface Frame {
  readonly type: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export function frameOf(type: number, stream: number, payload: Uint8Array = EMPTY): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  frame.writeUInt32BE(payload.length, 0);
  frame[LENGTH_BYTES] = type;
  frame.writeUInt32BE(stream, STREAM_AT);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

/** Returns a payload with a JSON value before the bytes. */
export function withHead(head: unknown, bytes: Uint8Array): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const payload = Buffer.allocUnsafe(HEAD_LENGTH_BYTES + text.length + bytes.length);
  payload.writeUInt32BE(text.length, 0);
  payload.set(text, HEAD_LENGTH_BYTES);
  payload.set(bytes, HEAD_LENGTH_BYTES + text.length);
  return payload;
}

export function splitHead(payload: Buffer): { readonly head: unknown; readonly bytes: Buffer } {
  const end = HEAD_LENGTH_BYTES + payload.readUInt32BE(0);
  return {
    head: JSON.parse(payload.toString('utf8', HEAD_LENGTH_BYTES, end)) as unknown,
    bytes: payload.subarray(end),
  };
}

const EMPTY: Buffer = Buffer.alloc(0);

/** Cuts a stream of bytes into frames. */
export class FrameReader {
  #rest: Buffer = EMPTY;
  readonly #received: (frame: Frame) => void;

  constructor(received: (frame: Frame) => void) {
    this.#received = received;
  }

  /** @throws Error for a frame that is too large. */
  add(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (bytes.length >= HEADER_BYTES) {
      const length = bytes.readUInt32BE(0);
      if (length > MAX_FRAME_BYTES) throw new Error('A frame of another replica is too large');
      if (bytes.length < HEADER_BYTES + length) break;
      const payload = bytes.subarray(HEADER_BYTES, HEADER_BYTES + length);
      this.#received({ type: bytes[LENGTH_BYTES] ?? 0, stream: bytes.readUInt32BE(STREAM_AT), payload });
      bytes = bytes.subarray(HEADER_BYTES + length);
    }
    this.#rest = bytes;
  }
}
