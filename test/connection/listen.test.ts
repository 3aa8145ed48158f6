import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ACKNOWLEDGE_MS } from '../../src/connection/listen.ts';
import { type FakeClock, fakeClock, NO_ANSWER, RpcError, scriptedServer } from '../../src/testing/index.ts';
import { HostWorld } from '../world/host-world.ts';

let world: HostWorld;
let clock: FakeClock;
beforeEach(() => {
  world = new HostWorld();
  clock = fakeClock();
});
afterEach(() => world.end());

const tools = { a: (): string => 'a' };
const asked = (server: ReturnType<typeof scriptedServer>, method: string): number =>
  server.received.filter((one) => 'method' in one && one.method === method).length;

describe('the stream of changes of a modern server (protocol 10)', () => {
  it.each([-32601, -32602])('is not asked for again when it is refused (%i)', async (code) => {
    const server = scriptedServer({ eras: 'modern', tools });
    server.on('subscriptions/listen', () => {
      throw new RpcError(code, 'no');
    });
    const host = await world.scripted(server, { clock });
    await host.ready();
    await server.seen('subscriptions/listen');
    await clock.advance(5 * 60_000);
    expect(asked(server, 'subscriptions/listen')).toBe(1);
  });

  // Protocol: 26-subscriptions-8
  it('is asked for again, ever more slowly, when it ends at once', async () => {
    const server = scriptedServer({ eras: 'modern', tools });
    server.on('subscriptions/listen', () => ({}));
    const host = await world.scripted(server, { clock });
    await host.ready();
    await server.seen('subscriptions/listen');
    await clock.advance(2_000);
    const early = asked(server, 'subscriptions/listen');
    expect(early).toBeGreaterThan(2);
    await clock.advance(5 * 60_000);
    // At most every fifteen seconds once it has grown patient.
    expect(asked(server, 'subscriptions/listen')).toBeLessThan(early + 30);
  });

  it('a subscription that is never acknowledged is kept, with a warning', async () => {
    const resources = { subscribe: true };
    const server = scriptedServer({ eras: 'modern', tools, capabilities: { tools: {}, resources } });
    server.on('subscriptions/listen', () => NO_ANSWER);
    const host = await world.scripted(server, { clock });
    const warnings: string[] = [];
    host.on('log', ({ level, message }) => {
      if (level === 'warning') warnings.push(message);
    });
    await host.ready();
    const subscribing = host.subscribe('s', 'test://a', () => {});
    await server.seen('subscriptions/listen');
    await clock.advance(ACKNOWLEDGE_MS);
    (await subscribing)();
    expect(warnings).toEqual(['it has not acknowledged the subscription to test://a within 3 s']);
  });

  it('is not requested if there is nothing to announce', async () => {
    const server = scriptedServer({ eras: 'modern', tools, capabilities: { tools: {} } });
    const host = await world.scripted(server, { clock });
    await host.ready();
    await host.call('mcp__s__a');
    expect(asked(server, 'subscriptions/listen')).toBe(0);
  });
});
