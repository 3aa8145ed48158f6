/** Approvals of LangGraph: a run that is interrupted goes on with the answer, with the packages from npm. */

import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { installFrameworks } from '../../scripts/install-frameworks.mjs';
import { modelServer } from '../adapters/model-server.mjs';
import { adapterHost } from '../world/adapter-host.ts';
import { runApproved, runNode } from './langgraph.mjs';

const TIMEOUT_MS = 1_200_000;

beforeAll(async () => {
  expect(await installFrameworks()).toBe(0);
}, TIMEOUT_MS);

it.each([
  [{ type: 'approve' }, '3'],
  [{ type: 'reject', message: 'not today' }, 'not today'],
])('a call that is asked about interrupts the agent, which resumes with %j', async (decision, said) => {
  const { host } = await adapterHost({ servers: { s: { command: 'scripted', approval: 'prompt' } } });
  const call = { name: 'mcp__s__add', args: { a: 1, b: 2 } };
  const model = await modelServer(({ results }) =>
    results.length === 0 ? { calls: [call] } : { text: results.map(({ text }) => text).join(' ') },
  );
  onTestFinished(() => model.close());
  const { interrupts, text } = await runApproved(host, model.url, decision);
  expect(interrupts).toMatchObject([{ value: { actionRequests: [call] } }]);
  expect(text).toContain(said);
});

it('a `ToolNode` that runs again for each answer makes no call twice', async () => {
  const { host, server } = await adapterHost({ servers: { s: { command: 'scripted', approval: 'prompt' } } });
  const call = (a: number) => ({ name: 'mcp__s__add', args: { a, b: 0 } });
  const calls = [call(1), call(2), { name: 'mcp__s__silent', args: {} }];
  const approve = { type: 'approve' };
  const { asked, left, texts } = await runNode(host, calls, [approve, { type: 'reject' }, approve]);
  expect(asked).toEqual(calls.map(({ args }) => args));
  expect(left).toBeUndefined();
  expect(texts).toEqual(['1', expect.stringContaining('DENIED'), expect.any(String)]);
  const made = server.received.filter((one) => 'method' in one && one.method === 'tools/call');
  expect(made).toMatchObject([{ params: { arguments: { a: 1 } } }, { params: { name: 'silent' } }]);
});
