import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../manage/browser.ts';
import { ANSWERS, bundleOf, type Servers, startServers } from './agent.ts';

const MODEL = new URL('../../assets/tool-search.bin', import.meta.url);
/** As strict pages have it: no code is made of text. */
const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'";

describe('plugboard/remote-only in Chromium', () => {
  let servers: Servers;
  let script: string;

  beforeAll(async () => {
    [servers, script] = await Promise.all([
      startServers(),
      bundleOf("import { runAgent } from './remote-only-agent.mjs';\nglobalThis.runAgent = runAgent;"),
    ]);
  });
  afterAll(() => servers?.close());

  /** The page, its script, the search model, and both servers at the page's own origin. */
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/') {
      response.setHeader('content-security-policy', POLICY).setHeader('content-type', 'text/html');
      return void response.end('<!doctype html><script type="module" src="/agent.js"></script>');
    }
    if (request.url === '/agent.js')
      return void response.setHeader('content-type', 'text/javascript').end(script);
    if (request.url === '/tool-search.bin') return void response.end(readFileSync(MODEL));
    const target = { '/legacy': servers.legacy, '/modern': servers.modern }[request.url ?? ''];
    if (target === undefined) return void response.writeHead(404).end();
    const {
      host: _host,
      origin: _origin,
      referer: _referer,
      connection: _connection,
      ...headers
    } = request.headers;
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { 'content-length': _length, ...sent } = headers as Record<string, string>;
    const answered = await fetch(target, {
      method: request.method ?? 'POST',
      headers: sent,
      ...(body ? { body } : {}),
    });
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    for await (const chunk of answered.body ?? []) response.write(chunk);
    response.end();
  }

  it('LIB-1: calls servers of both eras with checks, approval, sessions, questions and search, under a strict policy', async () => {
    const web = createServer((request, response) => {
      answer(request, response).catch(() => response.destroy());
    }).listen(0, '127.0.0.1');
    await once(web, 'listening');
    const origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(origin);
      await page.waitForFunction('typeof runAgent === "function"');
      const said = await page.evaluate(
        `(async () => runAgent({
          legacy: '${origin}/legacy',
          modern: '${origin}/modern',
          searchModel: new Uint8Array(await (await fetch('/tool-search.bin')).arrayBuffer()),
        }))()`,
      );
      expect(said).toMatchObject(ANSWERS);
    } finally {
      await browser.close();
      web.closeAllConnections();
      web.close();
    }
  });
});
