import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HostOptions } from '../../src/index.ts';
import { type Exchange, NO_ANSWER, RpcError, scriptedServer } from '../../src/testing/index.ts';
import { text } from '../world/content.ts';
import { failure } from '../world/failure.ts';
import { type ScriptedHost, scriptedHost } from '../world/scripted-host.ts';
import { until } from '../world/until.ts';

const STEPS = [
  'answer',
  'answer twice',
  'tool error',
  'protocol error',
  'garbage',
  'progress',
  'progress for another',
  'cancel',
  'idle time',
  'total time',
  'crash',
  'list changes',
  'question',
] as const;
type Step = (typeof STEPS)[number];

const IDLE_MS = 1_000;
const TOTAL_MS = 5_000;

/** The calls of one run, as the server holds them. */
interface Held {
  readonly exchange: Exchange;
  readonly at: number;
}

async function play(
  era: 'legacy' | 'modern',
  count: number,
  steps: readonly (readonly [number, Step])[],
): Promise<void> {
  const held: Held[] = [];
  const server = scriptedServer({
    eras: era,
    tools: {
      work: (args, exchange) => {
        held.push({ exchange, at: Number(args['at']) });
        return NO_ANSWER;
      },
    },
  });
  const made = await scriptedHost({
    server,
    entry: { toolTimeoutMs: IDLE_MS, maxTotalMs: TOTAL_MS },
    elicit: () => ({ action: 'decline' }),
  });
  const controllers = Array.from({ length: count }, () => new AbortController());
  const settled: string[][] = controllers.map(() => []);
  const calls = controllers.map(({ signal }, at) =>
    made.host.call('mcp__s__work', { at }, { signal, onProgress: () => {} }).then(
      (result) => void settled[at]?.push(result.isError ? 'tool-error' : 'ok'),
      (error) => void settled[at]?.push(error.code),
    ),
  );
  while (held.length < count) await made.clock.advance(0);
  for (const [which, step] of steps) await take(made, held, controllers, which % count, step);
  // Whatever happened so far, the total limit ends what is left (F27).
  await made.clock.advance(TOTAL_MS);
  await Promise.all(calls);
  for (const { exchange } of held) answer(exchange, { content: [text('late')] });
  await made.clock.advance(TOTAL_MS);
  const ends = made.events('call.end');
  expect(settled.map((codes) => codes.length)).toEqual(settled.map(() => 1));
  expect(ends.map(({ id }) => id).sort()).toEqual(
    made
      .events('call.begin')
      .map(({ id }) => id)
      .sort(),
  );
  for (const { id, outcome, code } of ends) {
    const [thrown] = settled[Number(id.slice(1)) - 1] ?? [];
    expect(thrown).toBe(code ?? outcome);
  }
  await made.host.close();
}

function answer(exchange: Exchange, result: Record<string, unknown>): void {
  exchange.line(JSON.stringify({ jsonrpc: '2.0', id: exchange.id, result }));
}

async function take(
  made: ScriptedHost,
  held: readonly Held[],
  controllers: readonly AbortController[],
  which: number,
  step: Step,
): Promise<void> {
  const exchange = held.find(({ at }) => at === which)?.exchange ?? expect.fail('no such call');
  switch (step) {
    case 'answer':
      answer(exchange, { content: [text('done')] });
      break;
    case 'answer twice':
      answer(exchange, { content: [text('done')] });
      answer(exchange, { content: [text('again')] });
      break;
    case 'tool error':
      answer(exchange, { content: [text('no')], isError: true });
      break;
    case 'protocol error':
      exchange.line(
        JSON.stringify({ jsonrpc: '2.0', id: exchange.id, error: { code: -32603, message: 'no' } }),
      );
      break;
    case 'garbage':
      exchange.line('{"jsonrpc":"2.0","id":');
      exchange.line(JSON.stringify({ jsonrpc: '2.0', id: 99_999, result: {} }));
      break;
    case 'progress':
      exchange.progress(1, 2, 'half');
      break;
    case 'progress for another':
      exchange.notify('notifications/progress', { progressToken: 99_999, progress: 1 });
      break;
    case 'cancel':
      controllers[which]?.abort();
      // In the same moment as an answer, so that the two race (F26).
      answer(exchange, { content: [text('just in time')] });
      break;
    case 'idle time':
      await made.clock.advance(IDLE_MS);
      break;
    case 'total time':
      await made.clock.advance(TOTAL_MS);
      break;
    case 'crash':
      exchange.crash(1);
      break;
    case 'list changes':
      made.server.tool('other', () => 'x');
      made.server.notify('notifications/tools/list_changed');
      break;
    case 'question':
      exchange
        .request('elicitation/create', { message: '?', requestedSchema: { type: 'object', properties: {} } })
        .catch(() => {});
      break;
    default:
      step satisfies never;
  }
  await made.clock.advance(1);
}

describe('CAL-1: every call ends in exactly one outcome', () => {
  it.each(['legacy', 'modern'] as const)(
    'for every order of cancel, timeout, crash, answer and progress (%s)',
    async (era) => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 3 }),
          fc.array(fc.tuple(fc.nat({ max: 2 }), fc.constantFrom(...STEPS)), { maxLength: 6 }),
          (count, steps) => play(era, count, steps),
        ),
        { numRuns: 60 },
      );
    },
  );

  it.each(STEPS)('each alone: %s', async (step) => {
    await play('legacy', 1, [[0, step]]);
  });
});

describe('faults during a call', () => {
  it('F25: a repeated answer and one that comes too late are ignored', async () => {
    let exchange: Exchange | undefined;
    const server = scriptedServer({
      tools: {
        work: (_args, given) => {
          exchange = given;
          return NO_ANSWER;
        },
        echo: () => 'still here',
      },
    });
    const world = await scriptedHost({ server, entry: { toolTimeoutMs: 1_000 } });
    const call = failure(world.host.call('mcp__s__work'));
    while (exchange === undefined) await world.clock.advance(0);
    await world.clock.advance(1_000);
    expect((await call).toJSON()).toEqual({
      code: 'TIMEOUT',
      message: 'work (s) timed out: no response or progress for 1 s',
      server: 's',
      hint: 'Raise toolTimeoutMs for servers that work long without progress.',
    });
    answer(exchange, { content: [text('late')] });
    answer(exchange, { content: [text('later')] });
    expect((await world.host.call('mcp__s__echo')).content).toEqual([text('still here')]);
    expect(world.events('call.end').map(({ outcome }) => outcome)).toEqual(['timeout', 'ok']);
    await world.host.close();
  });

  it('CAL-4: progress reaches the caller and restarts the idle clock; F27: the total limit ends it all the same', async () => {
    let exchange: Exchange | undefined;
    const server = scriptedServer({
      tools: {
        work: (_args, given) => {
          exchange = given;
          return NO_ANSWER;
        },
      },
    });
    const world = await scriptedHost({ server, entry: { toolTimeoutMs: 1_000, maxTotalMs: 5_000 } });
    const seen: unknown[] = [];
    const call = failure(world.host.call('mcp__s__work', {}, { onProgress: (step) => seen.push(step) }));
    while (exchange === undefined) await world.clock.advance(0);
    for (let step = 1; step <= 6; step += 1) {
      exchange.progress(step, 10, `step ${step}`);
      await world.clock.advance(900);
    }
    expect((await call).message).toBe('work (s) timed out: not finished after 5 s');
    expect(seen).toEqual(
      [1, 2, 3, 4, 5, 6].map((progress) => ({ progress, total: 10, message: `step ${progress}` })),
    );
    expect(world.events('call.progress')).toHaveLength(6);
    await world.host.close();
  });

  // Protocol: 25-transports-28, 26-cancellation-5
  it('CAL-4: cancellation reaches the server', async () => {
    const aborted: unknown[] = [];
    const server = scriptedServer({
      tools: {
        work: (_args, { signal }) =>
          new Promise(() => {
            signal.addEventListener('abort', () => aborted.push('aborted'));
          }),
      },
    });
    const world = await scriptedHost({ server });
    const controller = new AbortController();
    const call = failure(world.host.call('mcp__s__work', {}, { signal: controller.signal }));
    await server.seen('tools/call');
    controller.abort();
    expect((await call).code).toBe('CANCELLED');
    await until('the server hears of it', () => aborted.length > 0);
    expect((await failure(world.host.call('mcp__s__work', {}, { signal: controller.signal }))).code).toBe(
      'CANCELLED',
    );
    await world.host.close();
  });

  it('F28: ten thousand notifications do not keep an answer away', async () => {
    const server = scriptedServer({
      tools: {
        noisy: (_args, { notify }) => {
          for (let count = 0; count < 10_000; count += 1) {
            notify('notifications/message', { level: 'info', data: `noise ${count}` });
          }
          return 'heard';
        },
      },
    });
    const world = await scriptedHost({ server });
    expect((await world.host.call('mcp__s__noisy')).content).toEqual([text('heard')]);
    expect(world.events('log').length).toBeLessThan(1_000);
    await world.host.close();
  });

  it('F33: a call ends on the definition it began with, and never on another tool that has got its name', async () => {
    const called: string[] = [];
    const server = scriptedServer({
      eras: 'legacy',
      tools: {
        'do.it': () => {
          called.push('do.it');
          return 'mine';
        },
      },
    });
    let world: ScriptedHost | undefined;
    world = await scriptedHost({
      server,
      approve: async ({ tool }) => {
        // While the person thinks, the server puts another tool in this one's place.
        if (tool !== 'do.it') return 'deny';
        server.removeTool('do.it').tool('do_it', () => {
          called.push('do_it');
          return 'other';
        });
        server.notify('notifications/tools/list_changed');
        await world?.clock.advance(10_000);
        return 'allow';
      },
    });
    const [tool] = world.host.tools();
    const error = await failure(world.host.call(String(tool?.name)));
    expect(error.message).toContain('Unknown tool: do.it');
    expect(called).toEqual([]);
    await world.host.close();
  });

  it.each<[string, unknown, unknown]>([
    [
      'null fields',
      { content: null, isError: null, structuredContent: null, _meta: null },
      { content: [], isError: false },
    ],
    [
      'an unknown content type',
      { content: [{ type: 'hologram', data: 1 }] },
      {
        content: [{ ...text('{"type":"hologram","data":1}'), original: { type: 'hologram', data: 1 } }],
        isError: false,
      },
    ],
    ['content that is not a list', { content: 'x' }, { content: [text('x')], isError: false }],
    ['_meta that is no object', { content: [], _meta: [1] }, { content: [], isError: false }],
    ['nothing at all', {}, { content: [], isError: false }],
  ])('F57: %s', async (_what, raw, result) => {
    const server = scriptedServer({ eras: 'legacy', tools: { odd: () => raw } });
    const world = await scriptedHost({ server });
    expect(await world.host.call('mcp__s__odd')).toEqual(result);
    expect(world.events('log').length).toBeGreaterThan(0);
    await world.host.close();
  });

  it('F57: an answer that is none is a typed error', async () => {
    for (const frame of [{ result: null }, { result: [] }, {}, { error: 'bad' }, { error: { code: 'x' } }]) {
      const server = scriptedServer({
        tools: {
          odd: (_args, { line, id }) => {
            line(JSON.stringify({ jsonrpc: '2.0', id, ...frame }));
            return NO_ANSWER;
          },
        },
      });
      const world = await scriptedHost({ server });
      expect((await failure(world.host.call('mcp__s__odd'))).code).toBe('PROTOCOL_ERROR');
      await world.host.close();
    }
  });

  // Protocol: 25-tools-16, 26-tools-34
  it('a tool that failed, and a protocol error, are two different things', async () => {
    const server = scriptedServer({
      tools: {
        fails: () => {
          throw new Error('no such file');
        },
        breaks: () => {
          throw new RpcError(-32603, 'database away');
        },
      },
    });
    const world = await scriptedHost({ server });
    expect(await world.host.call('mcp__s__fails')).toMatchObject({
      content: [text('no such file')],
      isError: true,
    });
    expect((await failure(world.host.call('mcp__s__breaks'))).toJSON()).toEqual({
      code: 'PROTOCOL_ERROR',
      message: 'breaks (s) returned an error: database away',
      server: 's',
    });
    expect(world.events('call.end').map(({ outcome }) => outcome)).toEqual(['tool-error', 'error']);
    await world.host.close();
  });

  it('F19: a call of a tool of a failed server reports why the server failed', async () => {
    const server = scriptedServer({ tools: { echo: () => '' } });
    const replaceTransport: HostOptions['replaceTransport'] = (name) =>
      name === 's' ? server.transport() : undefined;
    const world = await scriptedHost({ server, replaceTransport });
    await world.host.ready();
    const codes = async (...names: string[]): Promise<unknown> =>
      Promise.all(names.map(async (name) => (await failure(world.host.call(name))).code));
    await world.host.add('gone', { command: '/no/such/program' });
    await world.host.add('gone__too', { command: 'x', enabled: false });
    expect((await failure(world.host.call('mcp__gone__any'))).toJSON()).toMatchObject({
      code: 'START_FAILED',
      server: 'gone',
    });
    expect(await codes('mcp__gone__too__any', 'mcp__gonexany', 'mcp__s__any')).toEqual([
      'BLOCKED_BY_POLICY',
      'UNKNOWN_TOOL',
      'UNKNOWN_TOOL',
    ]);
    expect(world.events('call.begin')).toEqual([]);
    await world.host.close();
    expect((await failure(world.host.call('mcp__s__echo'))).toJSON()).toEqual({
      code: 'CANCELLED',
      message: 'The call was cancelled: the host was closed',
    });
  });

  it('a name that is unknown is answered with the nearest one, and nothing begins', async () => {
    const world = await scriptedHost();
    expect((await failure(world.host.call('mcp__s__ecko'))).toJSON()).toEqual({
      code: 'UNKNOWN_TOOL',
      message: 'There is no tool called "mcp__s__ecko"',
      hint: 'Did you mean mcp__s__echo?',
    });
    expect(world.events('call.begin')).toEqual([]);
    await world.host.close();
  });
});
