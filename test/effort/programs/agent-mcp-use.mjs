import { ChatOpenAI } from '@langchain/openai';
import { MCPAgent, MCPClient } from 'mcp-use';
import { modelUrl, servers, task, typed } from './given.mjs';

const client = new MCPClient(
  { mcpServers: servers },
  { onElicitation: async () => ({ action: 'accept', content: typed }) },
);
const llm = new ChatOpenAI({ model: 'gpt-5', apiKey: 'x', configuration: { baseURL: modelUrl } });
const agent = new MCPAgent({ llm, client, maxSteps: 9 });
console.log(await agent.run({ prompt: task }));
await client.closeAllSessions();
