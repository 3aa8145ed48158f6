/** The same agent on Anthropic's own client. */

import Anthropic from '@anthropic-ai/sdk';
import { createHost, workspaceServer } from 'plugboard';
import { toAnthropic } from 'plugboard/adapters';

const host = await createHost({
  servers: { files: workspaceServer({ root: process.cwd() }) },
});
await host.ready();

const client = new Anthropic();
const adapter = toAnthropic(host);
const messages = [{ role: 'user', content: process.argv[2] ?? 'What is this project called?' }];

for (let step = 0; step < 10; step++) {
  const { content, stop_reason: reason } = await client.messages.create({
    model: process.env.MODEL ?? 'claude-sonnet-4-5',
    max_tokens: 4096,
    messages,
    tools: adapter.tools,
  });
  messages.push({ role: 'assistant', content });
  if (reason !== 'tool_use') {
    console.log(content.map((block) => (block.type === 'text' ? block.text : '')).join(''));
    break;
  }
  messages.push({ role: 'user', content: await adapter.executeAll(content) });
}
await host.close();
