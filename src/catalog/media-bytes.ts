/** Checks whether a model's API accepts a media block: detects its real type by signature, and checks its size. */

import { attempt } from '../lib/attempt.ts';

/** Limits of an API, in characters of base64. */
export interface MediaLimits {
  /** For one image. */
  readonly image: number;
  /** For all media of one result. */
  readonly total: number;
  /** For one side of an image, in pixels. */
  readonly pixels?: number | undefined;
}

interface MediaBytes {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

/** The type to send the bytes with, or the detected type and why they cannot be sent. */
export type MediaCheckResult =
  | { readonly ok: true; readonly mimeType: string }
  | { readonly ok: false; readonly mimeType: string; readonly why: string };

/** Enough for all signatures: a PDF may begin with up to 1,024 other bytes. */
const HEAD_CHARS = 1_400;
const UNKNOWN = 'application/octet-stream';

type Head = (head: string) => boolean;
const starts =
  (...marks: readonly string[]): Head =>
  (head) =>
    marks.some((mark) => head.startsWith(mark));
/** Matches `first`, four size bytes, then one of `marks`. */
const boxed =
  (first: string, ...marks: readonly string[]): Head =>
  (head) =>
    head.startsWith(first) && marks.some((mark) => head.startsWith(mark, first.length + 4));
const isSvg: Head = (head) => /^\s*<(?:svg|!doctype svg|(?:\?xml|!--).*<svg)/is.test(head.replace(BOM, ''));
const BOM = '\xef\xbb\xbf';

/** File signatures by type, one character per byte. */
const SIGNATURES: readonly (readonly [type: string, fits: Head])[] = [
  ['image/png', starts('\x89PNG\r\n\x1a\n')],
  ['image/jpeg', starts('\xff\xd8\xff')],
  ['image/gif', starts('GIF87a', 'GIF89a')],
  ['image/webp', boxed('RIFF', 'WEBP')],
  ['image/avif', boxed('', 'ftypavif', 'ftypavis')],
  ['image/heic', boxed('', 'ftypheic', 'ftypheix', 'ftyphevc', 'ftyphevx', 'ftypheim', 'ftypheis')],
  ['image/heif', boxed('', 'ftypmif1', 'ftypmsf1')],
  ['image/bmp', boxed('BM', '\0\0\0\0')],
  ['image/tiff', starts('II*\0', 'MM\0*')],
  ['image/svg+xml', isSvg],
  ['audio/wav', boxed('RIFF', 'WAVE')],
  ['audio/aiff', boxed('FORM', 'AIFF', 'AIFC')],
  ['audio/ogg', starts('OggS')],
  ['audio/flac', starts('fLaC')],
  ['audio/mpeg', starts('ID3', '\xff\xfb', '\xff\xfa', '\xff\xf3', '\xff\xf2')],
  ['audio/aac', starts('\xff\xf1', '\xff\xf9')],
  ['application/pdf', (head) => head.includes('%PDF-')],
];

/** Types whose files may begin otherwise; text has no signature at all. */
const LOOSE: ReadonlySet<string> = new Set(['audio/mpeg', 'audio/aac', 'image/svg+xml']);
const SIGNED: ReadonlySet<string> = new Set(SIGNATURES.flatMap(([type]) => (LOOSE.has(type) ? [] : [type])));
/** Labels that do not name a type. */
const VAGUE = /^$|^(?:application|binary)\/(?:octet-stream|binary)$|\*/;
/** One container format with two names. */
const HEIF: ReadonlySet<string> = new Set(['image/heic', 'image/heif']);

/** Creates a check for the media blocks of one result, called in their order. */
export function mediaCheck(
  types: ReadonlySet<string>,
  limits: MediaLimits | undefined,
): (block: MediaBytes) => MediaCheckResult {
  let total = 0;
  return ({ mimeType: written, data }) => {
    const declared = mediaType(written);
    const isVague = VAGUE.test(declared);
    if (!isVague && !types.has(declared)) return refused(written, `this model does not take ${written}`);
    if (data === '') return refused(declared, 'it is empty');
    // Invalid base64 can come only from the author's own tools.
    const head = attempt(() => atob(data.slice(0, HEAD_CHARS)), '');
    if (isVague && signedType(head) === undefined)
      return refused(written, `this model does not take ${written}`);
    const real = realType(declared, head);
    if (real === UNKNOWN) return refused(real, `its bytes are not ${declared}`);
    if (!types.has(real)) return refused(real, `its bytes are ${real}, which this model does not take`);
    const tooLarge = limits && overLimit(limits, { type: real, length: data.length, head }, total);
    if (tooLarge !== undefined) return refused(real, tooLarge);
    total += data.length;
    return { ok: true, mimeType: real };
  };
}

function refused(mimeType: string, why: string): MediaCheckResult {
  return { ok: false, mimeType, why };
}

function overLimit(
  { image, total, pixels }: MediaLimits,
  { type, length, head }: { readonly type: string; readonly length: number; readonly head: string },
  before: number,
): string | undefined {
  const isImage = type.startsWith('image/');
  if (isImage && length > image) return `this model takes images of at most ${megabytes(image)} in base64`;
  if (isImage && pixels !== undefined && longestSide(type, head) > pixels)
    return `this model takes images of at most ${pixels} pixels a side`;
  return length + before > total
    ? `this model takes at most ${megabytes(total)} of media in base64`
    : undefined;
}

function megabytes(chars: number): string {
  return `${Math.floor(chars / (1024 * 1024))} MB`;
}

/** Returns the type by signature; the declared type if the bytes do not contradict it. */
function realType(declared: string, head: string): string {
  const found = signedType(head);
  if (found === undefined) return SIGNED.has(declared) ? UNKNOWN : declared;
  return HEIF.has(found) && HEIF.has(declared) ? declared : found;
}

function signedType(head: string): string | undefined {
  return SIGNATURES.find(([, fits]) => fits(head))?.[0];
}

/** Returns the longer side in pixels; 0 if the first bytes do not contain it. */
function longestSide(type: string, head: string): number {
  const byte = (at: number): number => head.charCodeAt(at) || 0;
  const word = (at: number): number => byte(at) * 256 + byte(at + 1);
  switch (type) {
    case 'image/png':
      return Math.max(word(16) * 65_536 + word(18), word(20) * 65_536 + word(22));
    case 'image/gif':
      return Math.max(byte(7) * 256 + byte(6), byte(9) * 256 + byte(8));
    case 'image/jpeg':
      // JPEG is a sequence of segments: marker, length, and in a frame segment height and width.
      for (let at = 2; at + 9 < head.length && byte(at) === 0xff; at += 2 + word(at + 2)) {
        const marker = byte(at + 1);
        const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
        if (isFrame) return Math.max(word(at + 5), word(at + 7));
      }
      return 0;
    default:
      return 0;
  }
}

// Media types and their file extensions.

const ENDINGS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'application/gzip': 'gz',
  'application/octet-stream': 'bin',
  'image/jpeg': 'jpg',
  'image/vnd.microsoft.icon': 'ico',
  'text/markdown': 'md',
  'text/plain': 'txt',
  'video/quicktime': 'mov',
};
const ALIASES: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg', 'audio/mp3': 'audio/mpeg' };

/** Returns the type without parameters, in lower case: `Image/JPG; q=1` is `image/jpeg`. */
export function mediaType(written: string): string {
  const bare = (written.split(';', 1)[0] ?? '').trim().toLowerCase();
  return Object.hasOwn(ALIASES, bare) ? (ALIASES[bare] ?? bare) : bare;
}

/** Returns a file extension: `image/svg+xml` → `svg`; `bin` if the type does not define one. */
export function fileEnding(written: string): string {
  const type = mediaType(written);
  if (Object.hasOwn(ENDINGS, type)) return ENDINGS[type] ?? 'bin';
  return /^[a-z]+\/(?:x-)?([a-z0-9]{1,16})(?:$|\+)/.exec(type)?.[1] ?? 'bin';
}
