import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { HostEvents } from '../../src/host/host-options.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Emitter } from '../../src/lib/emitter.ts';
import { EventLog } from '../../src/manage/event-log.ts';
import { fakeClock } from '../../src/testing/index.ts';
import { legacySession } from '../serve/bare-client.ts';
import {
  CALLING_TOKEN,
  type ManagedGateway,
  type ManagedGatewayOptions,
  openManagedGateway,
  readEvents,
  TOKEN,
} from '../world/managed-gateway.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
async function setUp(options?: ManagedGatewayOptions): Promise<ManagedGateway> {
  const world = await openManagedGateway(options);
  open.push(world);
  return world;
}
async function read(world: ManagedGateway, headers?: Record<string, string>): ReturnType<typeof readEvents> {
  const reader = await readEvents(world, headers);
  open.push(reader);
  return reader;
}

const echo = {
  tools: {
    echo: () => 'hi',
    work: (_: unknown, { progress }: { progress(done: number, total?: number, message?: string): void }) => {
      progress(1, 2, 'half');
      return 'done';
    },
  },
};

describe('SRV-5: /api/events', () => {
  it('sends the events of the host, in order and with ids', async () => {
    const world = await setUp({ script: echo });
    const reader = await read(world);
    await world.api('POST', '/api/call', { name: 'mcp__small__work' });
    await reader.next(({ event }) => event === 'call.end');
    const key = expect.stringMatching(/^\w+-c1$/);
    expect(reader.seen.map(({ event, data }) => [event, data])).toEqual([
      ['call.begin', { id: 'c1', key, server: 'small', tool: 'work', session: 's1', at: expect.any(Number) }],
      ['call.progress', { id: 'c1', progress: 1, total: 2, message: 'half' }],
      ['call.end', { id: 'c1', key, outcome: 'ok', ms: expect.any(Number) }],
    ]);
    await world.api('POST', '/api/servers/small/disconnect');
    const { data } = await reader.next(({ event }) => event === 'server');
    expect(data).toMatchObject({ name: 'small', status: 'disconnected' });
    const numbers = reader.seen.map(({ id }) => Number(id?.split('-')[1]));
    expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at));
  });

  it('announces clients that come and leave, and changes of the configuration', async () => {
    const world = await setUp({ script: echo });
    const reader = await read(world);
    const session = await legacySession(
      world.served.url,
      '2025-06-18',
      {},
      {
        authorization: `Bearer ${CALLING_TOKEN}`,
      },
    );
    const came = await reader.next(({ event }) => event === 'client');
    expect(came.data).toMatchObject({ connected: [{ session: expect.any(String) }] });
    await fetch(world.served.url, { method: 'DELETE', headers: session });
    const left = await reader.next(
      ({ event, data }) => event === 'client' && (data as { connected: [] }).connected.length === 0,
    );
    expect(left.data).toEqual({ connected: [] });
    await world.api('POST', '/api/rules/preview', { rule: 'x' });
    expect(reader.seen.some(({ event }) => event === 'config')).toBe(false);
    await world.api('POST', '/api/rules', { list: 'deny', rule: 'small__none' });
    await reader.next(({ event }) => event === 'config');
  });

  it('goes on after the last event that a reader has seen', async () => {
    const world = await setUp({ script: echo });
    const first = await read(world);
    await world.api('POST', '/api/call', { name: 'mcp__small__echo' });
    const end = await first.next(({ event }) => event === 'call.end');
    first.close();
    await world.api('POST', '/api/call', { name: 'mcp__small__echo' });
    const second = await read(world, { 'last-event-id': end.id ?? '' });
    await second.next(({ event }) => event === 'call.end');
    expect(second.seen.map(({ event, data }) => [event, (data as { id: string }).id])).toEqual([
      ['call.begin', 'c2'],
      ['call.end', 'c2'],
    ]);
  });

  it('reports when more was missed than is kept, or the ids are of another run', async () => {
    const world = await setUp({ script: echo });
    const first = await read(world);
    await world.api('POST', '/api/call', { name: 'mcp__small__echo' });
    const { id = '' } = await first.next(({ event }) => event === 'call.begin');
    for (let count = 0; count < 500; count += 1) await world.host.call('mcp__small__echo').catch(() => {});
    for (const lastEventId of [id, 'other-7', 'nonsense']) {
      const reader = await read(world, { 'last-event-id': lastEventId });
      const { data } = await reader.next(({ event }) => event === 'missed');
      expect([data, reader.seen.length]).toEqual([{}, 1]);
    }
  });

  it('F28: a reader that does not read is cut off, and no other is affected', async () => {
    const host = new Emitter<HostEvents>();
    const log = new EventLog(host, host, systemClock);
    const server = createServer((_, response) => log.stream(response, undefined, () => {})).listen(
      0,
      '127.0.0.1',
    );
    open.push({ close: () => void server.closeAllConnections() }, server, log);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const stalled = connect(port, '127.0.0.1').pause();
    stalled.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n');
    const diligent = await readEvents({ origin: `http://127.0.0.1:${port}` });
    open.push(diligent);
    let readers = 2;
    const message = 'x'.repeat(256 * 1024);
    // The stalled one has its kernel's buffers, and then what we let pile up.
    for (let count = 0; readers === 2; count += 1) {
      host.emit('log', { level: 'info', message: `${count} ${message}` });
      await diligent.next(({ data }) => (data as { message: string }).message.startsWith(`${count} `));
      readers = await new Promise<number>((resolve) => server.getConnections((_, open) => resolve(open)));
    }
    host.emit('log', { level: 'info', message: 'the end' });
    const { data } = await diligent.next(
      (event) => (event.data as { message: string }).message === 'the end',
    );
    expect([readers, data]).toEqual([1, { level: 'info', message: 'the end' }]);
    stalled.destroy();
  });

  it('shows that it is alive while nothing happens', async () => {
    const clock = fakeClock();
    const world = await setUp({ serve: { clock } });
    const answer = await fetch(`${world.origin}/api/events`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const body = answer.body?.getReader();
    const text = async (): Promise<string> => new TextDecoder().decode((await body?.read())?.value);
    expect(await text()).toBe(': here is everything that happens\n\n');
    await clock.advance(15_000);
    expect(await text()).toBe(': still here\n\n');
    await body?.cancel();
  });
});
