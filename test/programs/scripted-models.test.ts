/** Scripted models that write programs: through the AI SDK's adapter and through `chat`. */

import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs } from 'ai';
import { expect, it, onTestFinished } from 'vitest';
import { toAiSdk } from '../../src/adapters/index.ts';
import { modelServer } from '../adapters/model-server.mjs';
import { ScriptedModel } from '../chat/scripted-model.ts';
import { Place } from '../cli/command.ts';
import { programWorld, SERVER } from './programs-world.ts';

const CODE = `const sums: number[] = [];
for (const b of [1, 2, 3]) sums.push((await tools.demo.add({ a: 10, b })).sum);
return sums.join(' ');`;

it('CAL-9: a model of the AI SDK runs a program, and gets only its output', async () => {
  const { host } = await programWorld();
  const server = await modelServer((view) =>
    view.results.length === 0
      ? { calls: [{ name: 'run', args: { code: CODE } }] }
      : { text: view.results.map(({ text }) => text).join(' ') },
  );
  onTestFinished(() => server.close());
  const openai = createOpenAI({ apiKey: 'unused', baseURL: `${server.url}/v1` });
  const { text } = await generateText({
    model: openai.responses('gpt-5-mini'),
    prompt: 'go',
    tools: toAiSdk(host),
    stopWhen: stepCountIs(4),
  });
  expect([text, server.requests.length, server.faults]).toEqual(['11 12 13', 2, []]);
});

it('CAL-9: a model of chat runs a program, and gets only its output', async () => {
  const place = new Place();
  onTestFinished(() => place.remove());
  const demo = { command: process.execPath, args: [SERVER], trusted: true };
  place.write(place.userFile, { mcpServers: { demo }, codeMode: true });
  const model = await ScriptedModel.start(
    { calls: [{ name: 'run', arguments: { code: CODE } }] },
    { text: 'Done.' },
  );
  onTestFinished(() => model.close());
  const { status, value } = await place.json(['chat', '-p', 'go', '--model', model.name]);
  expect([status, value]).toMatchObject([0, { text: 'Done.', calls: [{ name: 'run', isError: false }] }]);
  const messages: readonly { readonly role: string; readonly content: string }[] =
    model.requests[1]?.body.messages;
  expect(messages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual(['11 12 13']);
});
