import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs } from 'ai';
import { isAllowed, modelUrl, servers, task, typed } from './given.mjs';

const clients = [];
const tools = {};
const connect = async ([server, { command, args, env, url, headers }]) => {
  const transport =
    url === undefined ? new StdioTransport({ command, args, env }) : { type: 'http', url, headers };
  const client = await createMCPClient({ transport, capabilities: { elicitation: {} } });
  clients.push(client);
  client.onElicitationRequest(ElicitationRequestSchema, () => ({ action: 'accept', content: typed }));
  for (const [name, tool] of Object.entries(await client.tools())) {
    const execute = async (input, options) => {
      if (!isAllowed(name)) throw new Error(`${name} was denied by the user`);
      return tool.execute(input, options);
    };
    tools[`mcp__${server}__${name}`] = { ...tool, execute };
  }
};
const settled = await Promise.allSettled(Object.entries(servers).map(connect));
for (const { reason } of settled) if (reason !== undefined) console.error(reason.message);
const { text } = await generateText({
  model: createOpenAI({ baseURL: modelUrl, apiKey: 'x' })('gpt-5'),
  tools,
  prompt: task,
  stopWhen: stepCountIs(9),
});
console.log(text);
await Promise.all(clients.map((client) => client.close()));
