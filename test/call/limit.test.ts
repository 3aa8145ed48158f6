import { describe, expect, it } from 'vitest';
import type { Call, CallContext } from '../../src/call/call.ts';
import { limit } from '../../src/call/limit.ts';
import { createSession } from '../../src/call/session.ts';
import { DEFAULT_LIMITS } from '../../src/config/limits.ts';
import { createGate, type Gate, scriptedServer } from '../../src/testing/index.ts';
import { failure } from '../world/failure.ts';
import { type ScriptedHost, scriptedHost } from '../world/scripted-host.ts';
import { until } from '../world/until.ts';

interface Lane extends ScriptedHost {
  /** Calls that the server works on, each with the gate that lets it end. */
  readonly running: Gate[];
  readonly peak: { most: number };
}

async function lane(entry?: Record<string, unknown>): Promise<Lane> {
  const running: Gate[] = [];
  const peak = { most: 0 };
  const run = async (): Promise<string> => {
    const gate = createGate();
    running.push(gate);
    peak.most = Math.max(peak.most, running.length);
    await gate.opened;
    running.splice(running.indexOf(gate), 1);
    return 'done';
  };
  const server = scriptedServer({
    tools: { read: { annotations: { readOnlyHint: true }, run }, write: { run } },
  });
  const made = await scriptedHost({ server, ...(entry === undefined ? {} : { entry }) });
  return Object.assign(made, { running, peak });
}

const settle = (world: Lane): Promise<void> => world.clock.advance(0);

/** Waits until so many are being worked on, and then a little longer, in case there are more. */
async function working(world: Lane, count: number): Promise<void> {
  await until(`${count} calls are being worked on`, async () => {
    await settle(world);
    return world.running.length >= count;
  });
  for (let turn = 0; turn < 10; turn += 1) await settle(world);
}

async function drain(world: Lane, calls: readonly Promise<unknown>[]): Promise<void> {
  const all = Promise.all(calls);
  let over = false;
  void all.finally(() => {
    over = true;
  });
  while (!over) {
    world.running[0]?.open();
    await settle(world);
  }
  await all;
}

describe('CAL-7: many calls at once', () => {
  // Protocol: 25-tools-17c, 26-tools-35c
  it('a server works on 64 at once; the next ones wait in order', async () => {
    const world = await lane();
    const calls = Array.from({ length: 100 }, () => world.host.call('mcp__s__write'));
    await working(world, DEFAULT_LIMITS.maxConcurrentCalls);
    expect(world.running).toHaveLength(DEFAULT_LIMITS.maxConcurrentCalls);
    await drain(world, [...calls, ...Array.from({ length: 20 }, () => world.host.call('mcp__s__write'))]);
    expect(world.peak.most).toBe(DEFAULT_LIMITS.maxConcurrentCalls);
    await world.host.close();
  });

  it('read-only tools do not wait, if their server is trusted', async () => {
    const world = await lane({ trusted: true });
    const calls = Array.from({ length: 100 }, () => world.host.call('mcp__s__read'));
    await working(world, 100);
    expect(world.running).toHaveLength(100);
    await drain(world, calls);
    await world.host.close();
  });

  // Protocol: 25-tools-6, 26-tools-11
  it('A16: a server that is not trusted cannot pass by calling its tools read-only', async () => {
    const world = await lane();
    const calls = Array.from({ length: 70 }, () => world.host.call('mcp__s__read'));
    await working(world, DEFAULT_LIMITS.maxConcurrentCalls);
    expect(world.running).toHaveLength(DEFAULT_LIMITS.maxConcurrentCalls);
    await drain(world, calls);
    await world.host.close();
  });

  it('a call that is cancelled while it waits leaves the line, and its server never sees it', async () => {
    const world = await lane();
    const calls = Array.from({ length: DEFAULT_LIMITS.maxConcurrentCalls }, () =>
      world.host.call('mcp__s__write'),
    );
    await working(world, DEFAULT_LIMITS.maxConcurrentCalls);
    const controller = new AbortController();
    const waiting = failure(world.host.call('mcp__s__write', {}, { signal: controller.signal }));
    await settle(world);
    controller.abort();
    expect((await waiting).code).toBe('CANCELLED');
    const seen = world.server.received.filter(
      (message) => 'method' in message && message.method === 'tools/call',
    );
    expect(seen).toHaveLength(DEFAULT_LIMITS.maxConcurrentCalls);
    await drain(world, calls);
    await world.host.close();
  });

  it.each([0, 1, 2, 3, 4, 5])(
    'no call overtakes a waiting one, %i steps after one has ended',
    async (steps) => {
      const ends: (() => void)[] = [];
      const order: string[] = [];
      let most = 0;
      // The stage alone: whole calls cannot be timed to a single step.
      const stage = limit({ settings: () => ({}) } as unknown as CallContext, async ({ name }) => {
        order.push(name);
        const gate = createGate();
        ends.push(gate.open);
        most = Math.max(most, ends.length);
        await gate.opened;
        ends.splice(ends.indexOf(gate.open), 1);
        return { content: [], isError: false };
      });
      const connection = { spec: { entry: {} } };
      const session = createSession('s1', {});
      const call = (name: string): Promise<unknown> =>
        stage({ name, tool: {}, connection, session } as unknown as Call);
      const calls = Array.from({ length: DEFAULT_LIMITS.maxConcurrentCalls }, () => call('first'));
      calls.push(call('waiting'));
      ends[0]?.();
      for (let step = 0; step < steps; step += 1) await Promise.resolve();
      calls.push(call('newcomer'));
      while (ends.length > 0) {
        ends[0]?.();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(calls);
      expect(most).toBe(DEFAULT_LIMITS.maxConcurrentCalls);
      expect(order.slice(DEFAULT_LIMITS.maxConcurrentCalls)).toEqual(['waiting', 'newcomer']);
    },
  );
});
