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

/** One `ToolNode` with all calls, resumed with one decision after the other. */
export async function runNode(host, calls, decisions) {
  const { tool } = await importFramework('langchain');
  const { AIMessage } = await importFramework('@langchain/core', 'messages');
  const { Command, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } =
    await importFramework('@langchain/langgraph');
  const { ToolNode } = await importFramework('@langchain/langgraph', 'prebuilt');
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('tools', new ToolNode(toLangChain(host, { tool, interrupt })))
    .addEdge(START, 'tools')
    .addEdge('tools', END)
    .compile({ checkpointer: new MemorySaver() });
  const thread = { configurable: { thread_id: 'one' } };
  const made = calls.map((call, i) => ({ ...call, id: `c${i}`, type: 'tool_call' }));
  let state = await graph.invoke({ messages: [new AIMessage({ content: '', tool_calls: made })] }, thread);
  const asked = [];
  for (const decision of decisions) {
    asked.push(...state.__interrupt__.map(({ value }) => value.actionRequests[0].args));
    state = await graph.invoke(new Command({ resume: { decisions: [decision] } }), thread);
  }
  return { asked, left: state.__interrupt__, texts: state.messages.slice(1).map(({ text }) => text) };
}
