import { describe, expect, it } from 'vitest';
import { MAX_CALLS_PER_SERVER } from '../../src/call/limit.ts';
import { createGate, type Gate, scriptedServer } from '../../src/testing/index.ts';
import { failure, type World, world } from './world.ts';

interface Lane extends World {
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
  const made = await world({ server, ...(entry === undefined ? {} : { entry }) });
  return Object.assign(made, { running, peak });
}

const settle = (it: Lane): Promise<void> => it.clock.advance(0);

async function drain(it: Lane, calls: readonly Promise<unknown>[]): Promise<void> {
  const all = Promise.all(calls);
  let over = false;
  void all.finally(() => {
    over = true;
  });
  while (!over) {
    it.running[0]?.open();
    await settle(it);
  }
  await all;
}

describe('CAL-7: many calls at once', () => {
  it('a server works on 64 at once; the next ones wait their turn, and nobody slips in', async () => {
    const it = await lane();
    const calls = Array.from({ length: 100 }, () => it.host.call('mcp__s__write'));
    for (let turn = 0; turn < 10; turn += 1) await settle(it);
    expect(it.running).toHaveLength(MAX_CALLS_PER_SERVER);
    await drain(it, [...calls, ...Array.from({ length: 20 }, () => it.host.call('mcp__s__write'))]);
    expect(it.peak.most).toBe(MAX_CALLS_PER_SERVER);
    await it.host.close();
  });

  it('read-only tools do not wait, if their server is trusted', async () => {
    const it = await lane({ trusted: true });
    const calls = Array.from({ length: 100 }, () => it.host.call('mcp__s__read'));
    for (let turn = 0; turn < 10; turn += 1) await settle(it);
    expect(it.running).toHaveLength(100);
    await drain(it, calls);
    await it.host.close();
  });

  it('A16: a server that is not trusted cannot pass by calling its tools read-only', async () => {
    const it = await lane();
    const calls = Array.from({ length: 70 }, () => it.host.call('mcp__s__read'));
    for (let turn = 0; turn < 10; turn += 1) await settle(it);
    expect(it.running).toHaveLength(MAX_CALLS_PER_SERVER);
    await drain(it, calls);
    await it.host.close();
  });

  it('a call that is cancelled while it waits leaves the line, and its server never sees it', async () => {
    const it = await lane();
    const calls = Array.from({ length: MAX_CALLS_PER_SERVER }, () => it.host.call('mcp__s__write'));
    for (let turn = 0; turn < 10; turn += 1) await settle(it);
    const controller = new AbortController();
    const waiting = failure(it.host.call('mcp__s__write', {}, { signal: controller.signal }));
    await settle(it);
    controller.abort();
    expect((await waiting).code).toBe('CANCELLED');
    const seen = it.server.received.filter(
      (message) => 'method' in message && message.method === 'tools/call',
    );
    expect(seen).toHaveLength(MAX_CALLS_PER_SERVER);
    await drain(it, calls);
    await it.host.close();
  });
});
