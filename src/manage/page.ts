/** The page: a few static files, read once, sent with a policy that lets nothing else in. */

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const FOLDER: URL = new URL('../../assets/page/', import.meta.url);
const INDEX = 'index.html';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Results of tools may be pictures and sounds, which are shown from their bytes. */
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
  // It is checked each time, which costs nothing on one machine, so that a new version is seen at once.
  'cache-control': 'no-cache',
  vary: 'accept-encoding',
} as const;

interface PageFile {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly brotli: Buffer;
}

export class Page {
  readonly #files: ReadonlyMap<string, PageFile>;

  private constructor(files: ReadonlyMap<string, PageFile>) {
    this.#files = files;
  }

  static async load(): Promise<Page> {
    const names = (await readdir(FOLDER)).filter((name) => extname(name) in TYPES);
    const files = await Promise.all(names.map(async (name) => [`/${name}`, await read(name)] as const));
    const byPath = new Map(files);
    const index = byPath.get(`/${INDEX}`);
    if (index !== undefined) byPath.set('/', index);
    return new Page(byPath);
  }

  handles(path: string): boolean {
    return this.#files.has(path);
  }

  handle(request: IncomingMessage, response: ServerResponse, path: string): void {
    const file = this.#files.get(path);
    if (file === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(405, { ...HEADERS, allow: 'GET, HEAD' }).end();
      return;
    }
    const { type, etag } = file;
    if ((request.headers['if-none-match'] ?? '').includes(etag)) {
      response.writeHead(304, { ...HEADERS, etag }).end();
      return;
    }
    const accepted = String(request.headers['accept-encoding'] ?? '');
    const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : undefined;
    const body = encoding === 'br' ? file.brotli : encoding === 'gzip' ? file.gzip : file.plain;
    response.writeHead(200, {
      ...HEADERS,
      'content-type': type,
      'content-length': body.length,
      etag,
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }
}

async function read(name: string): Promise<PageFile> {
  const plain = await readFile(new URL(name, FOLDER));
  return {
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    gzip: gzipSync(plain),
    brotli: brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  };
}
