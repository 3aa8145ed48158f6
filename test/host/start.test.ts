import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServerEntry } from '../../src/config/entry.ts';
import { fakeClock, scriptedServer } from '../../src/testing/index.ts';
import { textOf } from '../world/content.ts';
import { exists, HostWorld, outcome, report, status } from '../world/host-world.ts';
import { until } from '../world/until.ts';

let world: HostWorld;
beforeEach(() => {
  world = new HostWorld();
});
afterEach(() => world.end());

describe('starting servers', () => {
  it('CON-6, CON-7: all start at once, and ready counts what came of them', async () => {
    const host = await world.host({
      servers: {
        good: world.server('good'),
        old: world.server('old', { era: 'legacy' }),
        broken: world.server('broken', { exit: 1 }),
        off: { ...world.server('off'), enabled: false },
      },
    });
    await host.ready();
    expect(host.seen.all.ready).toEqual([{ connected: 2, failed: 1, cancelled: 0 }]);
    expect(host.servers().map(({ name, status, era }) => [name, status, era])).toEqual([
      ['good', 'connected', 'modern'],
      ['old', 'connected', 'legacy'],
      ['broken', 'failed', undefined],
      ['off', 'disabled', undefined],
    ]);
    expect(host.seen.statuses('good').at(-1)).toBe('connected');
    expect(host.seen.statuses('broken').at(-1)).toBe('failed START_FAILED');
    expect(world.pids('off')).toEqual([]);
  });

  it('CON-6: many callers share one start', async () => {
    const host = await world.host({ connect: 'none', servers: { one: world.server('one') } });
    await Promise.all(Array.from({ length: 20 }, () => host.connect('one')));
    expect(world.pids('one')).toHaveLength(1);
    expect(host.seen.statuses('one')).toEqual(['connecting', 'connected']);
    expect(host.phases('one').map(({ name, ok }) => [name, ok])).toEqual([
      ['start', true],
      ['negotiate', true],
      ['list', true],
    ]);
  });

  // Protocol: 25-lifecycle-20c
  it('F16: a server that never answers times out by name with its stderr; others work in the meantime; its process ends', async () => {
    const host = await world.host({
      servers: {
        hangs: {
          ...world.server('hangs', { silent: true, stubborn: true, stderr: 'waiting for the moon' }),
          startupTimeoutMs: 4_000,
        },
        fine: world.server('fine'),
      },
    });
    await until('the good server', () => status(host, 'fine') === 'connected');
    expect(await textOf(host.call('mcp__fine__echo', { message: 'meanwhile' }))).toBe('meanwhile');
    expect(status(host, 'hangs')).toBe('connecting');
    await host.ready();
    expect(report(host, 'hangs')).toEqual({
      name: 'hangs',
      scope: 'code',
      transport: 'stdio',
      status: 'failed',
      tools: 0,
      error: {
        code: 'TIMEOUT',
        message: 'hangs did not finish starting within 4 s',
        hint: 'Raise startupTimeoutMs if it only needs longer (a first npx download does).',
        stderr: 'waiting for the moon',
      },
    });
    await until('the end of its process', () => !world.pids('hangs').some(exists));
  });

  it('F17: a program that serves over HTTP, or prints other things, is quoted with what to do', async () => {
    const program = (code: string): object => ({
      command: process.execPath,
      args: ['-e', `${code}; process.stdin.resume()`],
      startupTimeoutMs: 1_000,
    });
    const host = await world.host({
      servers: {
        web: program(
          'console.log("hi"); console.log("Server listening on http://localhost:3000"); console.log("ok")',
        ),
        logs: program('console.error("Uvicorn running on http://0.0.0.0:8000/mcp (Press CTRL+C to quit)")'),
        repl: program('console.log("Welcome! Type help.")'),
      } as Record<string, ServerEntry>,
    });
    await host.ready();
    const { web, logs, repl } = Object.fromEntries(host.servers().map(({ name, error }) => [name, error]));
    const http = (url: string): string =>
      `It serves over HTTP. Start it yourself, and give ${JSON.stringify(url)}, often with /mcp at its end, as "url" in place of "command".`;
    expect(web).toEqual({
      code: 'TIMEOUT',
      message:
        'web did not finish starting within 1 s; it printed "Server listening on http://localhost:3000"',
      hint: http('http://localhost:3000'),
    });
    expect(logs).toMatchObject({
      hint: http('http://127.0.0.1:8000/mcp').replace(', often with /mcp at its end,', ''),
    });
    expect(repl).toMatchObject({
      message: 'repl did not finish starting within 1 s; it printed "Welcome! Type help."',
      hint: 'This may not be a stdio MCP server, or it may need different arguments.',
    });
  });

  // Protocol: 26-stdio-16
  it('F17: a server that dies on the probe is started again and gets initialize', async () => {
    const host = await world.host({
      servers: { frail: world.server('frail', { diesOn: 'server/discover' }) },
    });
    await host.ready();
    const opening = world.witness('frail').slice(0, 6);
    expect(opening.map((line) => line.replace(/\d+/, '<pid>'))).toEqual([
      'start <pid>',
      'server/discover',
      'start <pid>',
      'initialize',
      'notifications/initialized',
      'tools/list',
    ]);
    expect(report(host, 'frail')).toMatchObject({ status: 'connected', era: 'legacy' });
    expect(world.pids('frail').filter(exists)).toHaveLength(1);
  });

  it('F19: a server that exits at once fails with its exit code and the tail of its stderr', async () => {
    const host = await world.host({
      servers: { poor: world.server('poor', { exit: 3, stderr: 'Error: API_KEY is not set' }) },
    });
    await host.ready();
    expect(report(host, 'poor')['error']).toEqual({
      code: 'START_FAILED',
      message: 'The server exited with code 3 before it answered: Error: API_KEY is not set',
      hint: expect.any(String),
      stderr: 'Error: API_KEY is not set',
    });
    expect(world.pids('poor').some(exists)).toBe(false);
  });

  it('F60: a server whose port is in use reports it in the hint', async () => {
    const stderr = 'Error: listen EADDRINUSE: address already in use 127.0.0.1:3000';
    const host = await world.host({ servers: { busy: world.server('busy', { exit: 1, stderr }) } });
    await host.ready();
    expect(report(host, 'busy')['error']).toMatchObject({
      code: 'START_FAILED',
      hint: expect.stringMatching(/port/i),
      stderr,
    });
  });

  it('F18: a missing program fails once, with a hint, and is not tried again', async () => {
    const host = await world.host({ servers: { none: { command: 'plugboard-no-such-program' } } });
    await host.ready();
    expect(host.seen.statuses('none')).toEqual(['failed START_FAILED']);
    expect(report(host, 'none')['error']).toMatchObject({
      message: 'The command "plugboard-no-such-program" was not found',
      hint: expect.stringContaining('Looked in'),
    });
  });

  // Protocol: 25-transports-4, 26-stdio-2
  it('F10: log lines on stdout are skipped, with one warning that quotes the first', async () => {
    const noise = 'Listening on 3000\nready!';
    const host = await world.host({ servers: { loud: world.server('loud', { noise }) } });
    await host.ready();
    expect(await textOf(host.call('mcp__loud__echo', { message: 'still works' }))).toBe('still works');
    expect(host.seen.messages('loud')).toEqual([
      'The server writes to stdout what is not JSON-RPC; such lines are skipped: Listening on 3000',
    ]);
  });

  it('CFG-4: a missing variable fails that one server, by name', async () => {
    const host = await world.host({
      env: { PATH: process.env['PATH'] ?? '' },
      servers: {
        needy: { ...world.server('needy'), env: { KEY: '${NO_SUCH_KEY}' } },
        fine: world.server('fine'),
      },
    });
    await host.ready();
    expect(host.seen.all.ready).toEqual([{ connected: 1, failed: 1, cancelled: 0 }]);
    expect(report(host, 'needy')).toMatchObject({
      status: 'failed',
      error: { code: 'CONFIG_INVALID', message: expect.stringContaining('NO_SUCH_KEY') },
    });
  });

  it('CON-9: a required server that fails makes ready() reject; the others only report', async () => {
    const host = await world.host({
      servers: {
        needed: { ...world.server('needed', { exit: 1, stderr: 'no licence' }), required: true },
        extra: world.server('extra', { exit: 1 }),
        fine: { ...world.server('fine'), required: true },
      },
    });
    await expect(host.ready()).rejects.toMatchObject({
      code: 'REQUIRED_FAILED',
      server: 'needed',
      message:
        'The required server needed is not there: The server exited with code 1 before it answered: no licence',
    });
    expect(status(host, 'fine')).toBe('connected');
  });

  it('CON-7: a first listing that fails means failed, a later one keeps the last good list', async () => {
    const clock = fakeClock();
    const server = scriptedServer({ tools: { a: () => 'a' } });
    server.once('tools/list', () => {
      throw new Error('not yet');
    });
    const host = await world.scripted(server, { clock });
    await host.ready();
    expect(host.seen.statuses('s').at(-1)).toBe('failed PROTOCOL_ERROR');
    await host.connect('s');
    expect(host.tools().map(({ name }) => name)).toEqual(['mcp__s__a']);
    server.once('tools/list', () => {
      throw new Error('just now');
    });
    await server.seen('subscriptions/listen');
    server.notify('notifications/tools/list_changed');
    await server.seen('tools/list', 3 - 1);
    await clock.armed(2);
    await clock.advance(1);
    await until('the warning', () => host.seen.messages('s').length === 1);
    expect(host.seen.messages('s')).toEqual([
      'the tool list could not be read again: tools/list returned an error: just now',
    ]);
    expect(host.tools().map(({ name }) => name)).toEqual(['mcp__s__a']);
    expect(status(host, 's')).toBe('connected');
  });

  it('F30: endless pages are cut and reported, and a cut refresh keeps the last good list', async () => {
    const clock = fakeClock();
    const server = scriptedServer({ tools: { good: () => 'ok' } });
    const host = await world.scripted(server, { clock });
    await host.ready();
    let page = 0;
    server.on('tools/list', () => ({
      tools: [{ name: `t${page}`, inputSchema: { type: 'object' } }],
      nextCursor: `c${page++}`,
    }));
    await server.seen('subscriptions/listen');
    server.notify('notifications/tools/list_changed');
    await clock.armed(2);
    await clock.advance(1);
    await until('the warning', () => host.seen.messages('s').length === 1);
    expect(host.seen.messages('s')).toEqual(['the tool list could not be read again: more than 200 pages']);
    expect(host.tools().map(({ tool }) => tool)).toEqual(['good']);
    expect(await outcome(host.call('mcp__s__good'))).toMatchObject({ isError: false });
  });
});
