/** Remote servers and logins through a real proxy, with TLS of a private authority. */

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProxyAgent, fetch as undiciFetch } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import type { PlugboardError } from '../../src/errors.ts';
import { createHost, type Host } from '../../src/host/host.ts';
import type { HostOptions } from '../../src/host/host-options.ts';
import { startAuthServer } from '../fixtures/auth-server.mjs';
import { startHttpServer } from '../fixtures/http-server.mjs';
import { AUTHORITY, startOddProxy, startProxy, startTlsFront, TLS } from '../fixtures/proxied.mjs';
import { failure } from '../world/failure.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

function kept<T extends { close(): Promise<unknown> }>(one: T): T {
  open.push(one);
  return one;
}

async function hostWith(env: NodeJS.ProcessEnv, url: string, more: Partial<HostOptions> = {}): Promise<Host> {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-proxy-'));
  open.push({ close: () => rm(home, { recursive: true, force: true }) });
  return kept(
    await createHost({
      home,
      cwd: home,
      env: { PATH: process.env['PATH'], PLUGBOARD_CREDENTIALS: 'file', ...env },
      connect: 'none',
      approve: () => 'allow',
      servers: { far: { url } },
      ...more,
    }),
  );
}

describe('a server that only the proxy can reach', () => {
  it('LIB-1: is called in both eras and over SSE, with TLS of a private authority', async () => {
    const server = kept(await startHttpServer());
    const front = kept(await startTlsFront(server.origin, 'mcp'));
    const proxy = kept(await startProxy());
    const env = { HTTPS_PROXY: proxy.url, SSL_CERT_FILE: AUTHORITY };
    for (const [path, type] of [
      ['/legacy', 'http'],
      ['/events', 'http'],
      ['/sse', 'sse'],
    ] as const) {
      const url = `${front.origin}${path}`;
      const host = await hostWith(env, url, { servers: { far: { url, type } } });
      await host.connect('far');
      const result = await host.call('mcp__far__echo', { a: 1 });
      expect(result.content).toEqual([{ type: 'text', text: '{"a":1}' }]);
    }
    expect(proxy.targets()).toEqual([new URL(front.origin).host]);
    expect(proxy.seen.every(({ kind }) => kind === 'tunnel')).toBe(true);
  });

  it('plain http goes through a tunnel too, call after call, by name and for this machine', async () => {
    const server = kept(await startHttpServer());
    const { port } = new URL(server.origin);
    const proxy = kept(await startProxy());
    for (const entry of [
      { url: `http://plain.proxied.test:${port}/legacy` },
      { url: `${server.origin}/events`, proxy: true },
    ]) {
      const host = await hostWith({ HTTP_PROXY: proxy.url }, '', { servers: { far: entry } });
      await host.connect('far');
      const calls = [1, 2, 3].map((a) => host.call('mcp__far__echo', { a }));
      const texts = (await Promise.all(calls)).flatMap(({ content }) => content);
      expect(texts).toEqual([1, 2, 3].map((a) => ({ type: 'text', text: `{"a":${a}}` })));
    }
    expect(proxy.targets()).toEqual([`plain.proxied.test:${port}`, `127.0.0.1:${port}`]);
    expect(proxy.seen.every(({ kind }) => kind === 'tunnel')).toBe(true);
  });

  it('a proxy that opens no tunnels forwards plain requests, also with a user and a password', async () => {
    const server = kept(await startHttpServer());
    const seen: unknown[] = [];
    const forwarder = createServer((request, response) => {
      seen.push(request.headers['proxy-authorization']);
      const { port } = new URL(server.origin);
      const target = new URL(request.url ?? '');
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        void fetch(`http://127.0.0.1:${port}${target.pathname}`, {
          method: request.method ?? 'GET',
          headers: { 'content-type': 'application/json' },
          ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
        }).then(async (answer) => {
          response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
          response.end(Buffer.from(await answer.arrayBuffer()));
        });
      });
    });
    await new Promise<void>((resolve) => forwarder.listen(0, '127.0.0.1', resolve));
    open.push({ close: async () => void forwarder.close() });
    const address = forwarder.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const host = await hostWith(
      { http_proxy: `http://ada:pw@127.0.0.1:${port}` },
      'http://far.proxied.test/mcp',
    );
    await host.connect('far');
    expect((await host.call('mcp__far__echo', {})).content).toEqual([{ type: 'text', text: '{}' }]);
    expect(new Set(seen)).toEqual(new Set([`Basic ${Buffer.from('ada:pw').toString('base64')}`]));
  });

  it('a login runs through the proxy from discovery to token, and its calls too', async () => {
    const as = kept(
      await startAuthServer({ tls: TLS, names: { as: 'as.proxied.test', mcp: 'mcp.proxied.test' } }),
    );
    const proxy = kept(await startProxy({ user: 'ada', password: 'p@ss' }));
    const address = `http://ada:p%40ss@${proxy.host}`;
    const agent = new ProxyAgent({ uri: address, requestTls: { ca: TLS.authority } });
    open.push({ close: () => agent.close() });
    const host = await hostWith({ HTTPS_PROXY: address, NODE_EXTRA_CA_CERTS: AUTHORITY }, as.url, {
      openUrl: async (url) => {
        const back = (await undiciFetch(url, { redirect: 'manual', dispatcher: agent })).headers.get(
          'location',
        );
        void fetch(back ?? '').catch(() => undefined);
      },
    });
    await host.login('far');
    await host.connect('far');
    const result = await host.call('mcp__far__echo', { text: 'hello' });
    expect(result.content).toEqual([{ type: 'text', text: 'hello' }]);
    expect(as.grants()).toEqual(['authorization_code']);
    expect(proxy.targets().sort()).toEqual([new URL(as.issuer).host, new URL(as.url).host].sort());
  });

  it('a fetch of the author that throws, or gives no response, is the reason', async () => {
    for (const [fetch, reason] of [
      [() => Promise.reject(new Error('blocked by a filter')), 'blocked by a filter'],
      [() => Promise.resolve(42 as never), 'it did not resolve to a Response'],
    ] as const) {
      const host = await hostWith({}, 'https://far.proxied.test/mcp', { fetch });
      expect(await failure(host.connect('far'))).toMatchObject({
        code: 'CONNECT_FAILED',
        message: `Cannot reach far.proxied.test. The fetch in use failed: ${reason}`,
      });
    }
  });

  it('LIB-1: the fetch of an author sends everything, and no proxy variable is read', async () => {
    const as = kept(
      await startAuthServer({ tls: TLS, names: { as: 'as.proxied.test', mcp: 'mcp.proxied.test' } }),
    );
    const proxy = kept(await startProxy());
    const agent = new ProxyAgent({ uri: proxy.url, requestTls: { ca: TLS.authority } });
    open.push({ close: () => agent.close() });
    const seen = new Set<string>();
    const host = await hostWith({ HTTPS_PROXY: 'http://127.0.0.1:1' }, as.url, {
      fetch: (url, init) => {
        seen.add(new URL(url).pathname);
        return undiciFetch(url, { ...init, dispatcher: agent });
      },
      openUrl: async (url) => {
        const back = (await undiciFetch(url, { redirect: 'manual', dispatcher: agent })).headers.get(
          'location',
        );
        void fetch(back ?? '').catch(() => undefined);
      },
    });
    await host.login('far');
    await host.connect('far');
    expect((await host.call('mcp__far__echo', { text: 'hi' })).content).toEqual([
      { type: 'text', text: 'hi' },
    ]);
    expect([...seen].sort()).toEqual([
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-protected-resource/mcp',
      '/mcp',
      '/register',
      '/token',
    ]);
  });
});

describe('reports about a proxy', () => {
  const refusal = async (
    env: NodeJS.ProcessEnv,
    url = 'https://far.proxied.test/mcp',
  ): Promise<PlugboardError> => failure((await hostWith(env, url)).connect('far'));

  it('one that is not there, by its address and variable, without its password', async () => {
    const error = await refusal({ HTTPS_PROXY: 'http://ada:hunter2@127.0.0.1:1' });
    expect(error.toJSON()).toEqual({
      code: 'CONNECT_FAILED',
      server: 'far',
      message:
        'Cannot reach the proxy http://127.0.0.1:1 (from HTTPS_PROXY) for far.proxied.test:443 (ECONNREFUSED)',
      hint: 'Check HTTPS_PROXY, or add far.proxied.test to NO_PROXY if it can be reached directly.',
    });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('hunter2');
  });

  it.each([
    ['https://far.proxied.test/mcp', 'tunnel'],
    ['http://far.proxied.test/mcp', 'forward'],
  ])('a password that it does not accept, or that it asks for: %s', async (url) => {
    const proxy = kept(await startProxy({ user: 'ada', password: 'right' }));
    const none = await refusal({ ALL_PROXY: proxy.url }, url);
    expect(none.message).toBe(`The proxy ${proxy.url} requires a user name and password (HTTP 407)`);
    const wrong = await refusal({ ALL_PROXY: `http://ada:hunter2@${proxy.host}` }, url);
    expect(wrong.toJSON()).toEqual({
      code: 'CONNECT_FAILED',
      server: 'far',
      message: `The proxy ${proxy.url} did not accept the user name and password (HTTP 407)`,
      hint: 'Set ALL_PROXY to http://<user>:<password>@<host>:<port>, with special characters percent-encoded.',
    });
  });

  it('one that refuses, fails or hangs up', async () => {
    const cases = [
      [
        'HTTP/1.1 403 Forbidden\r\n\r\n',
        (url: string) => `The proxy ${url} refused a connection to far.proxied.test:443 (HTTP 403)`,
      ],
      [
        'HTTP/1.1 502 Bad Gateway\r\n\r\n',
        (url: string) => `The proxy ${url} could not connect to far.proxied.test:443 (HTTP 502)`,
      ],
      [
        'HTTP/1.1 200 OK\r\n\r\n',
        (url: string) => `The proxy ${url} (from HTTPS_PROXY) closed the connection to far.proxied.test`,
      ],
      [
        '',
        (url: string) => `The proxy ${url} (from HTTPS_PROXY) closed the connection to far.proxied.test:443`,
      ],
    ] as const;
    for (const [answer, message] of cases) {
      const odd = kept(await startOddProxy(answer));
      expect((await refusal({ HTTPS_PROXY: odd.url })).message).toBe(message(odd.url));
    }
  });

  it('a tunnel that is cut during a call names the proxy', async () => {
    const server = kept(await startHttpServer());
    const front = kept(await startTlsFront(server.origin, 'mcp'));
    const proxy = kept(await startProxy());
    const env = { HTTPS_PROXY: proxy.url, SSL_CERT_FILE: AUTHORITY };
    const host = await hostWith(env, `${front.origin}/silent`);
    await host.connect('far');
    const calling = failure(host.call('mcp__far__echo', {}));
    while (!server.log.some(({ message }) => message?.method === 'tools/call'))
      await new Promise((resolve) => setImmediate(resolve));
    proxy.cut();
    const { code, message } = await calling;
    expect({ code, message }).toEqual({
      code: 'CONNECTION_LOST',
      message: expect.stringContaining(
        `The connection to ${new URL(front.origin).host} through the proxy ${proxy.url} broke before it answered`,
      ),
    });
  });

  it('a certificate that is not trusted, with the variable to set', async () => {
    const server = kept(await startHttpServer());
    const front = kept(await startTlsFront(server.origin, 'mcp'));
    const proxy = kept(await startProxy());
    const error = await refusal({ HTTPS_PROXY: proxy.url }, `${front.origin}/mcp`);
    const { host } = new URL(front.origin);
    expect(error.message).toBe(
      `Cannot reach ${host} through the proxy ${proxy.url}. Its certificate is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE).`,
    );
    expect(error.hint).toBe(
      'For a private authority, set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE to its certificate file.',
    );
  });

  it('a certificate file that cannot be used, once, as a warning', async () => {
    const server = kept(await startHttpServer());
    const front = kept(await startTlsFront(server.origin, 'mcp'));
    const warnings: string[] = [];
    const url = `https://127.0.0.1:${new URL(front.origin).port}/mcp`;
    const host = await hostWith({ SSL_CERT_FILE: '/nowhere/ca.pem' }, url, {
      log: ({ message }) => warnings.push(message),
    });
    await failure(host.connect('far'));
    expect(warnings).toEqual(['SSL_CERT_FILE names /nowhere/ca.pem, which cannot be read; it is ignored']);
  });
});
