import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import { isAllowed, modelUrl, servers, task } from './given.mjs';

const withRestart = ([name, entry]) => [
  name,
  entry.url === undefined ? { transport: 'stdio', restart: { enabled: true }, ...entry } : entry,
];
const client = new MultiServerMCPClient({
  mcpServers: Object.fromEntries(Object.entries(servers).map(withRestart)),
  prefixToolNameWithServerName: true,
  additionalToolNamePrefix: 'mcp',
  onConnectionError: 'ignore',
  beforeToolCall: ({ name }) => {
    if (!isAllowed(name)) throw new Error(`${name} was denied by the user`);
  },
});
const agent = createAgent({
  model: new ChatOpenAI({ model: 'gpt-5', apiKey: 'x', configuration: { baseURL: modelUrl } }),
  tools: await client.getTools(),
});
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: task }] });
console.log(messages.at(-1).text);
await client.close();
