/** Content blocks from bytes, files and addresses: images, audio and embedded files. */

import type { ContentBlock } from '../catalog/accept-result.ts';
import { PlugboardError } from '../errors.ts';

/** Bytes, a path or `file:` address to read, or an `http(s):` address to fetch. */
export type MediaSource = Uint8Array | string | URL;

/** Options of `image()`, `audio()` and `file()`. */
export interface MediaOptions {
  /** Default: by the first bytes, or by the ending of the name. */
  readonly mimeType?: string | undefined;
  /** For clients: the audience, the priority. */
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of `file()`. */
export interface FileOptions extends MediaOptions {
  /** The address of the file for the model; default: that of the source. */
  readonly uri?: string | undefined;
}

/** Larger content does not fit into one message of common clients. */
const MAX_MEDIA_BYTES: number = 32 * 1024 * 1024;
const FETCH_TIMEOUT_MS = 30_000;
const DEFAULT_TYPE = 'application/octet-stream';

/** The first bytes of each format; the offset is 0 unless noted. */
const SIGNATURES: readonly { readonly type: string; readonly bytes: string; readonly at?: number }[] = [
  { type: 'image/png', bytes: '\x89PNG' },
  { type: 'image/jpeg', bytes: '\xff\xd8\xff' },
  { type: 'image/gif', bytes: 'GIF8' },
  { type: 'image/webp', bytes: 'WEBP', at: 8 },
  { type: 'image/avif', bytes: 'ftypavif', at: 4 },
  { type: 'image/bmp', bytes: 'BM' },
  { type: 'audio/wav', bytes: 'WAVE', at: 8 },
  { type: 'audio/mpeg', bytes: 'ID3' },
  { type: 'audio/mpeg', bytes: '\xff\xfb' },
  { type: 'audio/mpeg', bytes: '\xff\xf3' },
  { type: 'audio/ogg', bytes: 'OggS' },
  { type: 'audio/flac', bytes: 'fLaC' },
  { type: 'audio/mp4', bytes: 'ftypM4A', at: 4 },
  { type: 'application/pdf', bytes: '%PDF-' },
  { type: 'application/zip', bytes: 'PK\x03\x04' },
  { type: 'application/gzip', bytes: '\x1f\x8b' },
];

const ENDINGS: Readonly<Record<string, string>> = {
  css: 'text/css',
  csv: 'text/csv',
  html: 'text/html',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};

/**
 * Creates an image for a result.
 *
 * @param source - Bytes, a path, or an address.
 * @param options - The MIME type, if its first bytes do not show it.
 * @returns The content block.
 * @throws PlugboardError `USAGE` if it cannot be read, is not an image, or is larger than 32 MiB.
 * @example
 * const png = Buffer.from('iVBORw0KGgo=', 'base64');
 * const block = await image(png);
 * block.mimeType; // → 'image/png'
 */
export function image(source: MediaSource, options: MediaOptions = {}): Promise<ContentBlock> {
  return media('image', source, options);
}

/**
 * Creates audio for a result.
 *
 * @param source - Bytes, a path, or an address.
 * @param options - The MIME type, if its first bytes do not show it.
 * @returns The content block.
 * @throws PlugboardError `USAGE` if it cannot be read, is not audio, or is larger than 32 MiB.
 * @example
 * const block = await audio(Buffer.from('OggS'));
 * block.mimeType; // → 'audio/ogg'
 */
export function audio(source: MediaSource, options: MediaOptions = {}): Promise<ContentBlock> {
  return media('audio', source, options);
}

/**
 * Creates an embedded file for a result: text where it is UTF-8, bytes otherwise.
 *
 * @param source - Bytes, a path, or an address.
 * @param options - Its MIME type and address, if the source does not show them.
 * @returns The content block, an embedded resource.
 * @throws PlugboardError `USAGE` if it cannot be read, or is larger than 32 MiB.
 * @example
 * const block = await file(Buffer.from('a,b\n1,2\n'), { uri: 'report://today.csv' });
 * block.resource; // → { uri: 'report://today.csv', mimeType: 'text/csv', text: 'a,b\n1,2\n' }
 */
export async function file(source: MediaSource, options: FileOptions = {}): Promise<ContentBlock> {
  const { bytes, name } = await read(source);
  const uri = options.uri ?? name;
  if (uri === undefined) {
    throw new PlugboardError('USAGE', 'A file of bytes needs an address', {
      hint: 'Give it a uri, as in { uri: "report://today.csv" }.',
    });
  }
  const text = textOf(bytes);
  const known = options.mimeType ?? typeOfBytes(bytes) ?? typeOfName(uri);
  const mimeType = known ?? (text === undefined ? DEFAULT_TYPE : 'text/plain');
  const content = text === undefined ? { blob: base64(bytes) } : { text };
  return block({ type: 'resource', resource: { uri, mimeType, ...content } }, options);
}

async function media(
  kind: 'image' | 'audio',
  source: MediaSource,
  options: MediaOptions,
): Promise<ContentBlock> {
  const { bytes, name } = await read(source);
  const mimeType = options.mimeType ?? typeOfBytes(bytes) ?? typeOfName(name ?? '') ?? DEFAULT_TYPE;
  if (!mimeType.startsWith(`${kind}/`)) {
    throw new PlugboardError('USAGE', `This is ${mimeType}, not ${kind}`, {
      hint: 'Give its mimeType if it is one, or use file().',
    });
  }
  return block({ type: kind, data: base64(bytes), mimeType }, options);
}

function block(content: ContentBlock, { annotations }: MediaOptions): ContentBlock {
  return annotations === undefined ? content : { ...content, annotations };
}

interface Read {
  readonly bytes: Uint8Array;
  /** The address that it came from. */
  readonly name: string | undefined;
}

async function read(source: MediaSource): Promise<Read> {
  if (source instanceof Uint8Array) return { bytes: within(source), name: undefined };
  const text = String(source);
  const isRemote = /^https?:\/\//i.test(text);
  try {
    return isRemote ? await fetched(text) : await readFromDisk(text);
  } catch (cause) {
    if (cause instanceof PlugboardError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PlugboardError('USAGE', `${text} cannot be read: ${reason}`, { cause });
  }
}

async function fetched(url: string): Promise<Read> {
  const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
  if (!response.ok) throw new PlugboardError('USAGE', `${url} cannot be read: status ${response.status}`);
  within({ byteLength: Number(response.headers.get('content-length') ?? 0) });
  return { bytes: within(new Uint8Array(await response.arrayBuffer())), name: url };
}

async function readFromDisk(place: string): Promise<Read> {
  const [{ readFile, stat }, { pathToFileURL, fileURLToPath }] = await Promise.all([
    import('node:fs/promises'),
    import('node:url'),
  ]);
  const path = place.startsWith('file:') ? fileURLToPath(place) : place;
  within({ byteLength: (await stat(path)).size });
  return { bytes: within(await readFile(path)), name: pathToFileURL(path).href };
}

function within<Sized extends { readonly byteLength: number }>(content: Sized): Sized {
  if (content.byteLength <= MAX_MEDIA_BYTES) return content;
  throw new PlugboardError('USAGE', `${content.byteLength} bytes are too many for one result`, {
    hint: 'Return a link to it: { type: "resource_link", uri, name }.',
  });
}

function typeOfBytes(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 16));
  return SIGNATURES.find((each) => head.startsWith(each.bytes, each.at ?? 0))?.type;
}

function typeOfName(name: string): string | undefined {
  const ending = /\.([a-z0-9]+)(?:[?#].*)?$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
