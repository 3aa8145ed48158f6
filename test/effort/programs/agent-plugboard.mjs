import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs } from 'ai';
import { createHost } from 'plugboard';
import { toAiSdk } from 'plugboard/adapters';
import { isAllowed, modelUrl, servers, task, typed } from './given.mjs';

const host = await createHost({
  servers,
  approve: ({ tool }) => (isAllowed(tool) ? 'allow' : 'deny'),
  elicit: () => ({ action: 'accept', content: typed }),
});
await host.ready();
const { text } = await generateText({
  model: createOpenAI({ baseURL: modelUrl, apiKey: 'x' })('gpt-5'),
  tools: toAiSdk(host),
  prompt: task,
  stopWhen: stepCountIs(9),
});
console.log(text);
await host.close();
