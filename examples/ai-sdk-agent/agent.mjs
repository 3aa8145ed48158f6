/** Give an AI SDK agent every MCP server of the user: one adapter, and the loop is the SDK's. */

import { openai } from '@ai-sdk/openai';
import { generateText, stepCountIs } from 'ai';
import { createHost, workspaceServer } from 'plugboard';
import { toAiSdk } from 'plugboard/adapters';

const host = await createHost({
  // The person's own servers come from their configuration; this one is given in code.
  servers: { files: workspaceServer({ root: process.cwd() }) },
  // Called for what may change something; a real agent asks its user here.
  approve: ({ name, reason }) => {
    console.error(`refused ${name}: ${reason}`);
    return 'deny';
  },
});
await host.ready();

const { text, steps } = await generateText({
  model: openai(process.env.MODEL ?? 'gpt-5-mini'),
  system: host.instructions() || 'You help with this project.',
  prompt: process.argv[2] ?? 'What is this project called?',
  tools: toAiSdk(host),
  stopWhen: stepCountIs(10),
});
const calls = steps.flatMap(({ toolCalls }) => toolCalls.map(({ toolName }) => toolName));
console.error(`called: ${calls.join(', ') || 'nothing'}`);
console.log(text);
await host.close();
