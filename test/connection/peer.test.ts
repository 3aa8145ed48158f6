import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Peer, type PeerOwner } from '../../src/connection/peer.ts';
import { PlugboardError } from '../../src/errors.ts';
import type { JsonRpcMessage } from '../../src/lib/json-rpc.ts';
import { type FakeClock, fakeClock, type MemoryTransport, memoryPair } from '../../src/testing/index.ts';
import { SENT, type Transport } from '../../src/transport/contract.ts';
import { collector } from '../testing/collector.ts';

interface Bench {
  readonly peer: Peer;
  readonly clock: FakeClock;
  readonly far: MemoryTransport;
  readonly heard: ReturnType<typeof collector>;
  readonly notified: string[];
  readonly closings: (PlugboardError | undefined)[];
}

async function bench(owner: Partial<PeerOwner> = {}): Promise<Bench> {
  const clock = fakeClock();
  const [near, far] = memoryPair();
  const heard = collector();
  await far.open(heard);
  const notified: string[] = [];
  const closings: (PlugboardError | undefined)[] = [];
  const peer = new Peer(
    near,
    {
      request: async () => ({}),
      notification: (method) => void notified.push(method),
      closed: (error) => void closings.push(error),
      notice: () => {},
      ...owner,
    },
    clock,
  );
  await peer.open();
  return { peer, clock, far, heard, notified, closings };
}

const answer = (id: unknown, result: unknown = { ok: true }): JsonRpcMessage =>
  ({ jsonrpc: '2.0', id, result }) as JsonRpcMessage;

const settled = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => ({ value }),
    (error: PlugboardError) => ({ code: error.code, message: error.message }),
  );

/** A transport that takes requests as objects, or as text. */
function recording(takesText: boolean): { readonly transport: Transport; readonly sent: unknown[] } {
  const sent: unknown[] = [];
  const transport: Transport = {
    kind: 'stdio',
    streamPerRequest: false,
    pid: undefined,
    open: () => Promise.resolve(),
    send: (message) => {
      sent.push(JSON.parse(JSON.stringify(message)));
      return SENT;
    },
    negotiated: () => {},
    close: () => Promise.resolve(),
  };
  if (takesText)
    transport.sendText = (text) => {
      sent.push(JSON.parse(text));
      return SENT;
    };
  return { transport, sent };
}

describe('peer', () => {
  it('writes the same requests as text and as objects, in both eras', () => {
    const meta = fc.option(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), { nil: undefined });
    const params = fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined });
    const method = fc.oneof(fc.constant('tools/call'), fc.string());
    const property = fc.property(
      ...[method, params, meta, fc.boolean(), meta],
      (name, given, envelope, hasProgress, own) => {
        const all = [true, false].map((takesText) => {
          const { transport, sent } = recording(takesText);
          const owner = { request: async () => ({}), notification() {}, closed() {}, notice() {} };
          const peer = new Peer(transport, owner, fakeClock());
          peer.useEnvelope(envelope);
          const whole = own === undefined ? given : { ...given, _meta: own };
          void peer.request(name, whole, hasProgress ? { onProgress: () => {} } : {});
          return sent;
        });
        expect(all[0]).toEqual(all[1]);
        expect(all[0]).toHaveLength(1);
      },
    );
    fc.assert(property, { numRuns: 500 });
  });

  // Protocol: 25-base-2, 25-base-5, 26-base-2, 26-base-5
  it('matches answers to requests, in any order, with ids as numbers or as strings', async () => {
    const { peer, far, heard } = await bench();
    const first = peer.request('a', {});
    const second = peer.request('b', {});
    await heard.received(2);
    await far.send(answer('2', { n: 2 }));
    await far.send(answer(1, { n: 1 }));
    expect([await first, await second]).toEqual([{ n: 1 }, { n: 2 }]);
  });

  // Protocol: 25-cancellation-5, 26-cancellation-13
  it('F25: duplicate, late and unknown answers are ignored', async () => {
    const { peer, far, heard, clock } = await bench();
    const request = peer.request('a', {});
    await heard.received(1);
    await far.send(answer(1, { n: 1 }));
    await far.send(answer(1, { n: 2 }));
    await far.send(answer(99));
    await far.send(answer(null));
    expect(await request).toEqual({ n: 1 });
    const late = settled(peer.request('b', {}, { idleMs: 100 }));
    await clock.advance(100);
    await far.send(answer(2));
    expect(await late).toEqual({ code: 'TIMEOUT', message: 'b timed out: no response for 0.1 s' });
  });

  it.each([
    ['an error', { error: { code: -5, message: 'no' } }, 'a returned an error: no'],
    ['an error without a message', { error: {} }, 'a returned an error: no message'],
    ['a null result', { result: null }, 'the answer to a holds a result that is not an object'],
    ['neither', {}, 'the answer to a holds neither a result nor an error'],
  ])('F57: a frame with %s ends its request with a typed error', async (_what, frame, message) => {
    const { peer, far, heard } = await bench();
    const request = settled(peer.request('a', {}));
    await heard.received(1);
    far.line(JSON.stringify({ jsonrpc: '2.0', id: 1, ...frame }));
    expect(await request).toEqual({ code: 'PROTOCOL_ERROR', message });
  });

  // Protocol: 25-cancellation-1, 25-lifecycle-16, 25-lifecycle-17, 25-lifecycle-18, 25-lifecycle-20c, 25-ping-4,
  // 25-transports-28, 26-cancellation-1, 26-cancellation-5, 26-cancellation-6, 26-cancellation-7, 26-cancellation-8,
  // 26-cancellation-10
  it('CAL-4: progress restarts the idle timeout, and the server is notified when we give up', async () => {
    const { peer, far, heard, clock } = await bench();
    const seen: unknown[] = [];
    const request = settled(
      peer.request('slow', {}, { idleMs: 1_000, onProgress: (progress) => seen.push(progress) }),
    );
    await heard.received(1);
    for (let step = 1; step <= 3; step += 1) {
      await clock.advance(900);
      far.line(
        JSON.stringify({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: 1, progress: step, total: 3, message: `step ${step}` },
        }),
      );
    }
    await clock.advance(0);
    expect(seen).toHaveLength(3);
    expect(seen[2]).toEqual({ progress: 3, total: 3, message: 'step 3' });
    await clock.advance(1_000);
    expect(await request).toEqual({
      code: 'TIMEOUT',
      message: 'slow timed out: no response or progress for 1 s',
    });
    expect((await heard.received(2))[1]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1, reason: 'slow timed out: no response or progress for 1 s' },
    });
  });

  // Protocol: 25-lifecycle-19, 26-cancellation-9
  it('F27: progress for ever is ended by the total limit', async () => {
    const { peer, far, heard, clock } = await bench();
    const request = settled(
      peer.request('slow', {}, { idleMs: 1_000, totalMs: 2_500, onProgress: () => {} }),
    );
    await heard.received(1);
    for (let step = 1; step <= 5; step += 1) {
      far.line(
        JSON.stringify({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: 1, progress: step },
        }),
      );
      await clock.advance(500);
    }
    expect(await request).toEqual({ code: 'TIMEOUT', message: 'slow timed out: not finished after 2.5 s' });
  });

  // Protocol: 25-cancellation-6, 26-cancellation-14
  it('F26: a cancel that races with the answer has exactly one outcome', async () => {
    const { peer, far, heard } = await bench();
    const controller = new AbortController();
    const request = settled(peer.request('a', {}, { signal: controller.signal }));
    await heard.received(1);
    controller.abort();
    await far.send(answer(1));
    expect(await request).toEqual({ code: 'CANCELLED', message: 'a was cancelled' });
    expect((await heard.received(2))[1]).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: 1 },
    });
    const refused = settled(peer.request('b', {}, { signal: controller.signal }));
    expect(await refused).toMatchObject({ code: 'CANCELLED' });
    expect(heard.messages).toHaveLength(2);
  });

  it('CAL-3: timeouts pause while a person is asked', async () => {
    const { peer, far, heard, clock } = await bench();
    const request = settled(peer.request('a', {}, { idleMs: 1_000 }));
    await heard.received(1);
    await clock.advance(900);
    const resume = peer.pauseClocks();
    const during = settled(peer.request('b', {}, { idleMs: 1_000 }));
    await clock.advance(60_000);
    resume();
    resume();
    await clock.advance(99);
    await far.send(answer(1));
    expect(await request).toEqual({ value: { ok: true } });
    await clock.advance(1_000);
    expect(await during).toMatchObject({ code: 'TIMEOUT' });
  });

  it('CAL-3: the time a person takes does not count towards the total limit, also with progress after it', async () => {
    const { peer, far, heard, clock } = await bench();
    const request = settled(peer.request('a', {}, { idleMs: 1_000, totalMs: 2_000, onProgress: () => {} }));
    await heard.received(1);
    await clock.advance(500);
    const resume = peer.pauseClocks();
    await clock.advance(3_600_000);
    resume();
    far.line(
      JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 1, progress: 1 },
      }),
    );
    await clock.advance(999);
    await far.send(answer(1));
    expect(await request).toEqual({ value: { ok: true } });
  });

  it('reports when no request is pending', async () => {
    const { peer, far, heard } = await bench();
    await peer.idle();
    const order: string[] = [];
    const request = peer.request('a', {}).then(() => order.push('answer'));
    const idle = peer.idle().then(() => order.push('idle'));
    await heard.received(1);
    expect(order).toEqual([]);
    await far.send(answer(1));
    await Promise.all([request, idle]);
    expect(order.sort()).toEqual(['answer', 'idle']);
  });

  // Protocol: 25-base-6, 25-base-7, 25-base-8, 25-base-9, 25-base-10, 25-cancellation-4, 25-ping-1, 26-base-6,
  // 26-base-7, 26-base-12, 26-base-13, 26-base-14
  it('answers requests of the server, refuses what it does not serve, and stays silent when they are taken back', async () => {
    let release: (value: unknown) => void = () => {};
    const { far, heard } = await bench({
      request: (method) =>
        method === 'wait'
          ? new Promise((resolve) => {
              release = resolve;
            })
          : Promise.reject(new PlugboardError('PROTOCOL_ERROR', 'no', { detail: { rpcCode: -32601 } })),
    });
    far.line('{"jsonrpc":"2.0","id":"p","method":"ping"}');
    far.line('{"jsonrpc":"2.0","id":"x","method":"unknown"}');
    far.line('{"jsonrpc":"2.0","id":"w","method":"wait"}');
    far.line('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}');
    far.line('{"jsonrpc":"2.0","id":"q","method":"ping"}');
    await heard.received(3);
    const byId = [...heard.messages].sort((a, b) =>
      'id' in a && 'id' in b ? (String(a.id) < String(b.id) ? -1 : 1) : 0,
    );
    expect(byId).toEqual([
      { jsonrpc: '2.0', id: 'p', result: {} },
      { jsonrpc: '2.0', id: 'q', result: {} },
      { jsonrpc: '2.0', id: 'x', error: { code: -32601, message: 'no' } },
    ]);
    release({});
  });

  it('the end of the transport ends every request, once, with its reason', async () => {
    const { peer, far, heard, closings } = await bench();
    const requests = Promise.all([settled(peer.request('a', {})), settled(peer.request('b', {}))]);
    await heard.received(2);
    far.crash(new PlugboardError('CONNECTION_LOST', 'exit code 3'));
    const outcome = { code: 'CONNECTION_LOST', message: 'exit code 3' };
    expect(await requests).toEqual([outcome, outcome]);
    expect(await settled(peer.request('c', {}))).toEqual(outcome);
    expect(closings).toHaveLength(1);
  });

  // Protocol: 25-progress-10, 26-progress-7
  it('F28: ten thousand notifications do not keep an answer away', async () => {
    const { peer, far, heard, notified } = await bench();
    const request = peer.request('a', {});
    await heard.received(1);
    for (let n = 0; n < 10_000; n += 1) far.line('{"jsonrpc":"2.0","method":"notifications/noise"}');
    await far.send(answer(1));
    expect(await request).toEqual({ ok: true });
    expect(notified).toHaveLength(10_000);
  });
});
