/** Approvals of LangGraph: a run that is interrupted goes on with the answer, with the packages from npm. */

import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { installFrameworks } from '../../scripts/install-frameworks.mjs';
import { modelServer } from '../adapters/model-server.mjs';
import { world } from '../adapters/world.ts';
import { runApproved } from './langgraph.mjs';

const TIMEOUT_MS = 1_200_000;

beforeAll(async () => {
  expect(await installFrameworks()).toBe(0);
}, TIMEOUT_MS);

it.each([
  [{ type: 'approve' }, '3'],
  [{ type: 'reject', message: 'not today' }, 'not today'],
])('a call that is asked about interrupts the agent, which resumes with %j', async (decision, said) => {
  const { host } = await world({ servers: { s: { command: 'scripted', approval: 'prompt' } } });
  const call = { name: 'mcp__s__add', args: { a: 1, b: 2 } };
  const model = await modelServer(({ results }) =>
    results.length === 0 ? { calls: [call] } : { text: results.map(({ text }) => text).join(' ') },
  );
  onTestFinished(() => model.close());
  const { interrupts, text } = await runApproved(host, model.url, decision);
  expect(interrupts).toMatchObject([{ value: { actionRequests: [call] } }]);
  expect(text).toContain(said);
});
