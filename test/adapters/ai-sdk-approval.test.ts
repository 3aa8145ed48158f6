/** Approval in the AI SDK's own way: the run ends with a request, and another run goes on with the answer. */

import { createOpenAI } from '@ai-sdk/openai';
import { generateText, type ModelMessage, stepCountIs } from 'ai';
import { expect, it, onTestFinished } from 'vitest';
import { toAiSdk } from '../../src/adapters/index.ts';
import type { Host } from '../../src/index.ts';
import { adapterHost } from '../world/adapter-host.ts';
import { modelServer } from './model-server.mjs';

const add = { name: 'mcp__s__add', args: { a: 1, b: 2 } };
const PROMPT: ModelMessage = { role: 'user', content: 'go' };

async function converse(
  host: Host,
  calls: readonly { name: string; args: unknown }[],
  approved: boolean,
): Promise<string> {
  const server = await modelServer((view) =>
    view.results.length === 0 ? { calls } : { text: view.results.map(({ text }) => text).join(' ') },
  );
  onTestFinished(() => server.close());
  const openai = createOpenAI({ apiKey: 'unused', baseURL: `${server.url}/v1` });
  const run = (messages: ModelMessage[]) =>
    generateText({
      model: openai.responses('gpt-5-mini'),
      messages,
      tools: toAiSdk(host, { needsApproval: true }),
      stopWhen: stepCountIs(4),
    });
  const first = await run([PROMPT]);
  const requests = first.content.filter((part) => part.type === 'tool-approval-request');
  if (requests.length === 0) return first.text;
  // As if another process went on: the messages are all that it has.
  const kept = JSON.parse(JSON.stringify([PROMPT, ...first.response.messages])) as ModelMessage[];
  const content = requests.map(({ approvalId }) => ({
    type: 'tool-approval-response' as const,
    approvalId,
    approved,
  }));
  const second = await run([...kept, { role: 'tool', content }]);
  return second.text;
}

const ASKING = { servers: { s: { command: 'scripted', approval: 'prompt' as const } } };

it('needsApproval: a call that the host would ask about is asked about by the SDK', async () => {
  const { host } = await adapterHost(ASKING);
  expect(host.approvalOf('mcp__s__add')).toMatchObject({ decision: 'ask' });
  expect(await converse(host, [add], true)).toBe('3');
});

it('needsApproval: through call_tool, too', async () => {
  const { host } = await adapterHost({ ...ASKING, toolSearch: true });
  const { name, args } = add;
  expect(await converse(host, [{ name: 'call_tool', args: { name, arguments: args } }], true)).toBe('3');
});

it('needsApproval: a call that the person denies is not made', async () => {
  const { host, server } = await adapterHost(ASKING);
  await converse(host, [add], false);
  expect(server.received.filter((message) => 'method' in message && message.method === 'tools/call')).toEqual(
    [],
  );
});

it('needsApproval: calls that need no approval are made at once, denied ones are refused', async () => {
  const { host } = await adapterHost();
  expect(host.approvalOf('mcp__s__add')).toMatchObject({ decision: 'allow' });
  expect(await converse(host, [add], false)).toBe('3');
  expect(host.approvalOf('mcp__s__none')).toBeUndefined();
});

it('needsApproval: without the answer of a person in the messages, the host decides', async () => {
  const { host } = await adapterHost(ASKING);
  const tools = toAiSdk(host, { needsApproval: true });
  const request = { type: 'tool-approval-request', approvalId: 'x', toolCallId: 'c' };
  const response = { type: 'tool-approval-response', approvalId: 'x', approved: false };
  const messages = [
    { role: 'assistant', content: [request] },
    { role: 'tool', content: [response] },
  ];
  for (const given of [[], messages])
    expect(await tools['mcp__s__add']?.execute(add.args, { toolCallId: 'c', messages: given })).toMatchObject(
      {
        error: { code: 'APPROVAL_REQUIRED' },
      },
    );
});

it('needsApproval: no one is asked about a call that cannot run', async () => {
  const { host } = await adapterHost({ ...ASKING, toolSearch: true });
  const tools = toAiSdk(host, { needsApproval: true });
  const isAsked = (name: string, input: unknown): Promise<boolean> | undefined =>
    tools[name]?.needsApproval?.(input);
  const inner = { name: add.name, arguments: add.args };
  expect(await isAsked('call_tool', inner)).toBe(true);
  expect(await isAsked('call_tool', JSON.stringify(inner))).toBe(true);
  for (const input of [
    { ...inner, arguments: { a: 'x', b: 2 } },
    { ...inner, arguments: 'x' },
    { name: add.name, ...add.args },
    { name: 3 },
    {},
    '{',
    { name: 'mcp__s__none' },
  ])
    expect([input, await isAsked('call_tool', input)]).toEqual([input, false]);
  const malformed = { name: 'call_tool', args: { ...inner, arguments: { a: 'x', b: 2 } } };
  expect(await converse(host, [malformed], true)).toContain('INVALID_ARGUMENTS');
});

it('needsApproval: a yes that was recorded for the session is not asked for again', async () => {
  const { host } = await adapterHost(ASKING);
  const session = host.session();
  const isAsked = (): Promise<boolean> | undefined =>
    toAiSdk(session, { needsApproval: true })[add.name]?.needsApproval?.(add.args);
  expect(await isAsked()).toBe(true);
  await session.allow(add.name, 'session');
  expect(await isAsked()).toBe(false);
});

it('host.call(…, { approved }) makes a call that would be asked about', async () => {
  const { host } = await adapterHost(ASKING);
  expect(await host.call(add.name, add.args, { approved: true })).toMatchObject({ isError: false });
  await expect(host.call(add.name, add.args)).rejects.toMatchObject({ code: 'APPROVAL_REQUIRED' });
});
