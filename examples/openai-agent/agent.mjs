/** The same agent on OpenAI's own client: the loop is these twenty lines. */

import OpenAI from 'openai';
import { createHost, workspaceServer } from 'plugboard';
import { toOpenAI } from 'plugboard/adapters';

const host = await createHost({
  servers: { files: workspaceServer({ root: process.cwd() }) },
});
await host.ready();

const client = new OpenAI();
const adapter = toOpenAI(host, { api: 'chat' });
const messages = [{ role: 'user', content: process.argv[2] ?? 'What is this project called?' }];

for (let step = 0; step < 10; step++) {
  const { choices } = await client.chat.completions.create({
    model: process.env.MODEL ?? 'gpt-5-mini',
    messages,
    // Read anew for every request: servers come and go, and search loads tools.
    tools: adapter.tools,
  });
  const [{ message }] = choices;
  messages.push(message);
  if (!message.tool_calls?.length) {
    console.log(message.content);
    break;
  }
  // Errors come back as data: the model reads them and goes on.
  messages.push(...(await adapter.executeAll(message.tool_calls)));
}
await host.close();
