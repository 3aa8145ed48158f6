/** An agent of LangChain whose calls are approved through interrupts of LangGraph. */

import { importFramework } from '../../scripts/install-frameworks.mjs';
import { toLangChain } from '../../src/adapters/index.ts';

export async function runApproved(host, url, decision) {
  const { createAgent, tool } = await importFramework('langchain');
  const { ChatOpenAI } = await importFramework('@langchain/openai');
  const { Command, interrupt, MemorySaver } = await importFramework('@langchain/langgraph');
  const configuration = { baseURL: `${url}/v1` };
  const agent = createAgent({
    model: new ChatOpenAI({ apiKey: 'unused', model: 'gpt-5-mini', maxRetries: 0, configuration }),
    tools: toLangChain(host, { tool, interrupt }),
    checkpointer: new MemorySaver(),
  });
  const thread = { configurable: { thread_id: 'one' } };
  const first = await agent.invoke({ messages: [{ role: 'user', content: 'go' }] }, thread);
  const { messages } = await agent.invoke(new Command({ resume: { decisions: [decision] } }), thread);
  return { interrupts: first.__interrupt__, text: messages.at(-1).text };
}
