/** The part of Node's `Buffer` that the host uses, over `Uint8Array`. */

type Encoding = 'utf8' | 'utf-8' | 'base64' | 'base64url' | 'hex' | 'latin1' | 'binary' | 'ascii';

export class Buffer extends Uint8Array {
  static override from(value: unknown, encoding?: unknown): Buffer {
    if (typeof value === 'string') return copy(decode(value, (encoding as Encoding | undefined) ?? 'utf8'));
    if (value instanceof ArrayBuffer) return new Buffer(value);
    return copy(value as ArrayLike<number>);
  }

  static alloc(size: number): Buffer {
    return new Buffer(size);
  }

  static byteLength(value: string | Uint8Array): number {
    return typeof value === 'string' ? new TextEncoder().encode(value).length : value.byteLength;
  }

  static concat(parts: readonly Uint8Array[]): Buffer {
    const whole = new Buffer(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  static isBuffer(value: unknown): boolean {
    return value instanceof Uint8Array;
  }

  override toString(encoding: Encoding = 'utf8', start = 0, end: number = this.length): string {
    return encode(this.subarray(start, end), encoding);
  }
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function copy(bytes: ArrayLike<number>): Buffer {
  const made = new Buffer(bytes.length);
  made.set(bytes);
  return made;
}

function decode(text: string, encoding: Encoding): Uint8Array {
  switch (encoding) {
    case 'utf8':
    case 'utf-8':
      return new TextEncoder().encode(text);
    case 'hex':
      return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    case 'base64':
    case 'base64url': {
      const plain = text
        .replaceAll('-', '+')
        .replaceAll('_', '/')
        .replaceAll(/[^A-Za-z0-9+/]/g, '');
      return Uint8Array.from(atob(plain), (char) => char.charCodeAt(0));
    }
    default:
      return Uint8Array.from(text, (char) => char.charCodeAt(0) & 0xff);
  }
}

function encode(bytes: Uint8Array, encoding: Encoding): string {
  switch (encoding) {
    case 'utf8':
    case 'utf-8':
      return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    case 'hex':
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    case 'base64':
      return btoa(latin1(bytes));
    case 'base64url':
      return btoa(latin1(bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    default:
      return latin1(bytes);
  }
}

/** In chunks, because the number of arguments of a call is limited. */
function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}
