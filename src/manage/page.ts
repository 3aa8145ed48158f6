/** Serves the page: a few static files, each read on first request, sent with a strict content security policy. */

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const INDEX = 'index.html';
const MISSING =
  'The files of the page (dist/page) are not part of this installation. The API works without them.\n';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Results of tools may be images and audio, which are shown from their bytes. */
const POLICY: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  'media-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  // Revalidated each time, which is cheap on one machine, so that a new version is used at once.
  'cache-control': 'no-cache',
  vary: 'accept-encoding',
} as const;

type Encoding = 'br' | 'gzip' | undefined;

interface PageFile {
  readonly type: string;
  readonly etag: string;
  /** Compressed on the first request for that encoding: most gateways never show their page. */
  readonly body: (encoding: Encoding) => Buffer;
}

export class Page {
  readonly #names: ReadonlyMap<string, string>;
  readonly #read = new Map<string, Promise<PageFile>>();

  private constructor(names: ReadonlyMap<string, string>) {
    this.#names = names;
  }

  /** Without its files, as in a bundle, the page is one sentence; the API is unaffected. */
  static async load(): Promise<Page> {
    const files = await listFiles();
    const names = files.filter((name) => extname(name) in TYPES);
    return new Page(new Map([['/', INDEX], ...names.map((name) => [`/${name}`, name] as const)]));
  }

  handles(path: string): boolean {
    return this.#names.has(path);
  }

  handle(request: IncomingMessage, response: ServerResponse, path: string): void {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { ...HEADERS, allow: 'GET, HEAD' }).end();
      return;
    }
    this.#file(path).then(
      (file) => send(request, response, file),
      () => response.writeHead(404, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' }).end(MISSING),
    );
  }

  #file(path: string): Promise<PageFile> {
    const name = this.#names.get(path) ?? INDEX;
    const file = this.#read.get(name) ?? read(name);
    this.#read.set(name, file);
    return file;
  }
}

function send(request: IncomingMessage, response: ServerResponse, { type, etag, body }: PageFile): void {
  if ((request.headers['if-none-match'] ?? '').includes(etag)) {
    response.writeHead(304, { ...HEADERS, etag }).end();
    return;
  }
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const encoding: Encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : undefined;
  const bytes = body(encoding);
  response.writeHead(200, {
    ...HEADERS,
    'content-type': type,
    'content-length': bytes.length,
    etag,
    ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** A literal, for tools that trace a package's files; throws in a CommonJS bundle, which has no `import.meta.url`. */
function folder(): URL {
  return new URL('../../dist/page/', import.meta.url);
}

async function listFiles(): Promise<readonly string[]> {
  try {
    return await readdir(folder());
  } catch {
    return [];
  }
}

async function read(name: string): Promise<PageFile> {
  const plain = await readFile(new URL(name, folder()));
  const packed = new Map<Encoding, Buffer>([[undefined, plain]]);
  return {
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    body(encoding) {
      const bytes = packed.get(encoding) ?? pack(plain, encoding);
      packed.set(encoding, bytes);
      return bytes;
    },
  };
}

function pack(plain: Buffer, encoding: Encoding): Buffer {
  if (encoding === 'gzip') return gzipSync(plain);
  return brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}
