import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConnectionServer, startConnectionServer } from '../fixtures/connection-http.mjs';
import { startHttpProxy } from '../fixtures/http-proxy.mjs';
import { textOf } from '../world/content.ts';
import { HostWorld, outcome, report, status } from '../world/host-world.ts';
import { until } from '../world/until.ts';

let world: HostWorld;
let server: ConnectionServer;
beforeEach(async () => {
  world = new HostWorld();
  server = await startConnectionServer();
  world.onEnd(() => server.close());
});
afterEach(() => world.end());

const hello = { message: 'hello' };

describe('servers over HTTP', () => {
  // Protocol: 26-stdio-15
  it('CON-5: a modern server costs one probe and one list', async () => {
    const host = await world.host({ servers: { s: { url: `${server.origin}/modern` } } });
    await host.ready();
    expect(report(host, 's')).toEqual({
      name: 's',
      scope: 'code',
      transport: 'http',
      status: 'connected',
      tools: 1,
      protocolVersion: '2026-07-28',
      era: 'modern',
    });
    expect(server.log.slice(0, 2)).toEqual(['server/discover', 'tools/list']);
  });

  // Protocol: 26-subscriptions-8
  it('protocol 10: the modern stream of changes is opened, and opened again after a drop', async () => {
    const host = await world.host({ servers: { s: { url: `${server.origin}/modern` } } });
    await host.ready();
    await until('the stream', () => server.state.listeners.size === 1);
    for (const listener of server.state.listeners) listener.socket?.resetAndDestroy();
    await until('the end of the stream', () => server.state.listeners.size === 0);
    await until('a new stream', () => server.state.listeners.size === 1);
    // Something may have changed unseen.
    await until('a new listing', () => server.log.filter((one) => one === 'tools/list').length === 2);
    expect(host.seen.statuses('s').filter((one) => one !== 'connecting')).toEqual(['connected']);
  });

  it('protocol 2, CON-5: an HTTP 5xx on the probe falls back to initialize', async () => {
    const host = await world.host({ servers: { s: { url: `${server.origin}/fault-on-probe` } } });
    await host.ready();
    expect(report(host, 's')).toMatchObject({ status: 'connected', era: 'legacy' });
    expect(server.log.slice(0, 2)).toEqual(['server/discover', 'initialize']);
  });

  // Protocol: 25-transports-46
  it.each([404, 400])(
    'F41: an expired session (%i) is opened again once, and the call runs once',
    async (code) => {
      const host = await world.host({ servers: { s: { url: `${server.origin}/legacy-${code}` } } });
      await host.ready();
      expect(await textOf(host.call('mcp__s__echo', hello))).toBe('hello');
      server.state.sessions?.clear();
      const from = server.log.length;
      expect(await textOf(host.call('mcp__s__echo', hello))).toBe('hello');
      const count = (method: string): number => server.log.slice(from).filter((one) => one === method).length;
      expect({ initialize: count('initialize'), calls: count('tools/call') }).toEqual({
        initialize: 1,
        calls: 2,
      });
      expect(host.seen.statuses('s').slice(-2)).toEqual(['connecting', 'connected']);
    },
  );

  it('F41: many calls on one expired session share one new session', async () => {
    const host = await world.host({ servers: { s: { url: `${server.origin}/legacy-404` } } });
    await host.ready();
    server.state.sessions?.clear();
    const from = server.log.length;
    const calls = Array.from({ length: 5 }, () => textOf(host.call('mcp__s__echo', hello)));
    expect(await Promise.all(calls)).toEqual(Array(5).fill('hello'));
    expect(server.log.slice(from).filter((one) => one === 'initialize')).toHaveLength(1);
  });

  it('CON-4: a server that only has the older transport is found, without a probe there', async () => {
    const host = await world.host({
      servers: { found: { url: `${server.origin}/sse` }, told: { type: 'sse', url: `${server.origin}/sse` } },
      connect: 'none',
    });
    await host.connect('found');
    expect(report(host, 'found')).toMatchObject({ status: 'connected', transport: 'sse', era: 'legacy' });
    expect(await textOf(host.call('mcp__found__echo', hello))).toBe('hello');
    await host.disconnect('found');
    const from = server.log.length;
    await host.connect('told');
    expect(server.log.slice(from).slice(0, 2)).toEqual(['GET /sse', 'initialize']);
    expect(await textOf(host.call('mcp__told__echo', hello))).toBe('hello');
  });

  it('N31: a wrong path stays an http server; the older transport at an address of the newer one has a hint', async () => {
    const host = await world.host({
      servers: {
        astray: { url: `${server.origin}/nothing-here` },
        old: { type: 'sse', url: `${server.origin}/legacy-404` },
      },
    });
    await host.ready();
    expect([report(host, 'astray'), report(host, 'old')]).toMatchObject([
      { transport: 'http', error: { code: 'NOT_MCP', hint: expect.stringContaining('Check the path') } },
      { transport: 'sse', error: { hint: expect.stringContaining('set "type": "http"') } },
    ]);
  });

  it.each(['locked', 'forbidden'])(
    'F42, CON-4: /%s for ever is a few requests and needs_auth; no fallback',
    async (path) => {
      const host = await world.host({ servers: { s: { url: `${server.origin}/${path}` } } });
      await host.ready();
      expect(status(host, 's')).toBe('needs_auth');
      expect(server.log.filter((one) => one === `GET /${path}`)).toEqual([]);
      expect(server.log.length).toBeLessThan(8);
      expect(host.seen.all.ready).toEqual([{ connected: 0, failed: 1, cancelled: 0 }]);
    },
  );

  it('F42: a 401 in a call ends in needs_auth, and the error of the call reports it', async () => {
    const host = await world.host({ servers: { s: { url: `${server.origin}/locks-later` } } });
    await host.ready();
    expect(await outcome(host.call('mcp__s__echo', hello))).toMatchObject({ code: 'NEEDS_AUTH' });
    expect(status(host, 's')).toBe('needs_auth');
  });

  it('F43: a busy server is asked for its list again, after the time that it requests', async () => {
    const host = await world.host({ servers: { s: { url: `${server.origin}/modern` } } });
    await host.ready();
    await until('the stream', () => server.state.listeners.size === 1);
    server.state.busy = 1;
    for (const listener of server.state.listeners) listener.socket?.resetAndDestroy();
    await until('two more tries', () => server.log.filter((one) => one === 'tools/list').length === 3);
    expect(host.seen.messages('s')).toEqual([]);
  });

  it('F43: a call that meets a busy server is not repeated', async () => {
    const host = await world.host({ servers: { s: { url: `${server.origin}/busy` } } });
    await host.ready();
    expect(await outcome(host.call('mcp__s__echo', hello))).toMatchObject({ code: 'CONNECT_FAILED' });
    expect(server.log.filter((one) => one === 'tools/call')).toHaveLength(1);
    expect(status(host, 's')).toBe('connected');
  });

  it.each(['page', 'nothing-here'])('F44: /%s does not speak MCP, and the error states it', async (path) => {
    const host = await world.host({ servers: { s: { url: `${server.origin}/${path}` } } });
    await host.ready();
    expect(report(host, 's')['error']).toMatchObject({
      code: 'NOT_MCP',
      message: expect.stringMatching(/^This url does not speak MCP/),
    });
  });

  it('F38: a reset in the middle of an answer fails that call and is not repeated; the next one works', async () => {
    const host = await world.host({ servers: { s: { url: `${server.origin}/reset-in-call` } } });
    await host.ready();
    const from = server.log.length;
    expect(await outcome(host.call('mcp__s__echo', hello))).toMatchObject({ code: 'CONNECTION_LOST' });
    expect(server.log.slice(from).filter((one) => one === 'tools/call')).toHaveLength(1);
    expect(status(host, 's')).toBe('connected');
  });

  it('protocol 4: a server that disappeared is noticed by the next call, and used again when it is back', async () => {
    const host = await world.host({ servers: { s: { url: `${server.origin}/legacy-404` } } });
    await host.ready();
    const { port } = server;
    await server.close();
    // On a socket that is just closing it is unknown whether the request arrived: then it is not repeated.
    const codes = ['CONNECTION_LOST', 'CONNECT_FAILED'];
    expect(codes).toContain(((await outcome(host.call('mcp__s__echo', hello))) as { code: string }).code);
    await until('the loss', () => status(host, 's') !== 'connected');
    server = await startConnectionServer(port);
    world.onEnd(() => server.close());
    await until('the connection', () => status(host, 's') === 'connected');
    expect(await textOf(host.call('mcp__s__echo', hello))).toBe('hello');
    expect(host.seen.statuses('s')).toContain('failed CONNECT_FAILED');
  });

  it('CON-8: a server that is not there yet is tried again by itself', async () => {
    const { port, origin } = server;
    await server.close();
    const host = await world.host({ servers: { s: { url: `${origin}/modern` } } });
    await host.ready();
    expect(report(host, 's')).toMatchObject({ status: 'failed', error: { code: 'CONNECT_FAILED' } });
    server = await startConnectionServer(port);
    world.onEnd(() => server.close());
    await until('the connection', () => status(host, 's') === 'connected');
  });

  it('F36: a frozen line costs a call its timeout, and a thawed one works again', async () => {
    const proxy = await startHttpProxy('127.0.0.1', server.port);
    world.onEnd(() => proxy.close());
    const host = await world.host({ servers: { s: { url: `${proxy.origin}/modern` } } });
    await host.ready();
    proxy.freeze();
    expect(await outcome(host.call('mcp__s__echo', hello, { timeoutMs: 500 }))).toMatchObject({
      code: 'TIMEOUT',
    });
    proxy.thaw();
    expect(await textOf(host.call('mcp__s__echo', hello))).toBe('hello');
  });
});
