/** `interrupt` of LangGraph in a node with several calls, which runs again for each answer (with LangGraph itself: test/frameworks). */

import { expect, it } from 'vitest';
import { type LangChainOptions, toLangChain } from '../../src/adapters/index.ts';
import type { Host } from '../../src/index.ts';
import { adapterHost } from '../world/adapter-host.ts';

type Run = Parameters<LangChainOptions<object>['tool']>[0];

const APPROVE = { decisions: [{ type: 'approve' }] };
const REJECT = { decisions: [{ type: 'reject' }] };

/** Runs nodes as LangGraph does: answers are handed out by the order of the questions of a run. */
function graph(
  host: Host,
): (task: string, calls: readonly [string, object][], answers: unknown[]) => Promise<unknown> {
  const runs = new Map<string, Run>();
  let left: unknown[] = [];
  const interrupt = (): unknown => {
    if (left.length === 0) throw new Error('interrupted');
    return left.shift();
  };
  toLangChain(host, {
    tool: (run, { name }) => {
      runs.set(name, run);
      return { name };
    },
    interrupt,
  });
  return async (task, calls, answers) => {
    left = [...answers];
    const configurable = { thread_id: 't', checkpoint_ns: task, __pregel_scratchpad: {} };
    const made = calls.map(([name, args], i) =>
      runs.get(name)?.(args, { toolCall: { id: `c${i}` }, configurable }),
    );
    const settled = await Promise.allSettled(made);
    return settled.map((one) => (one.status === 'fulfilled' ? one.value?.[0] : 'interrupted'));
  };
}

it('a call that was made is not made again when its node runs again', async () => {
  const ran: unknown[] = [];
  const tool = (readOnlyHint: boolean) => ({
    annotations: { readOnlyHint },
    run: (args: Readonly<Record<string, unknown>>) => {
      ran.push(args['n'] ?? 'look');
      return { content: [{ type: 'text' as const, text: `ran ${args['n'] ?? 'look'}` }] };
    },
  });
  const { host } = await adapterHost({
    tools: { act: tool(false), other: tool(false), look: tool(true) },
    servers: { s: { command: 'scripted', trusted: true } },
  });
  const run = graph(host);
  const calls: [string, object][] = [
    ['mcp__s__act', { n: 1 }],
    ['mcp__s__other', { n: 2 }],
    ['mcp__s__look', {}],
  ];
  expect(await run('a', calls, [])).toEqual(['interrupted', 'interrupted', 'ran look']);
  expect(await run('a', calls, [APPROVE])).toEqual(['ran 1', 'interrupted', 'ran look']);
  // The first call is allowed since: its answer is not taken for that of the second.
  await host.allow('mcp__s__act', 'session');
  expect(await run('a', calls, [APPROVE, REJECT])).toEqual([
    'ran 1',
    expect.stringContaining('"DENIED"'),
    'ran look',
  ]);
  expect(ran).toEqual(['look', 1]);
  expect(await run('b', calls, [APPROVE])).toEqual(['ran 1', 'ran 2', 'ran look']);
  expect(ran.slice(2).sort()).toEqual([1, 2, 'look']);
});

it('the same call twice in one run of a node is two calls', async () => {
  const { host, server } = await adapterHost();
  const runs: Run[] = [];
  const tool = (run: Run, { name }: { readonly name: string }): object =>
    name === 'mcp__s__add' ? { run: runs.push(run) } : {};
  toLangChain(host, { tool, interrupt: () => APPROVE });
  const made = async (): Promise<number> => {
    const configurable = { thread_id: 't', checkpoint_ns: 'a', __pregel_scratchpad: {} };
    for (let i = 0; i < 2; i += 1)
      await runs[0]?.({ a: 1, b: 2 }, { toolCall: { id: 'same' }, configurable });
    return server.received.filter((one) => 'method' in one && one.method === 'tools/call').length;
  };
  expect([await made(), await made()]).toEqual([2, 2]);
});
