/**
 * An agent on the AI SDK and its own MCP client, for a server with more tools than a model should get. The model gets `find_tools`, and after
 * each search the tools that were found: node agent.mjs <task> <command of the server> [arguments]
 */

import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { openai } from '@ai-sdk/openai';
import { createToolSearch } from '@plugboard/tool-search';
import { generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';

const [task, command, ...args] = process.argv.slice(2);
const client = await createMCPClient({ transport: new StdioTransport({ command, args }) });
const listed = await client.listTools();
const index = createToolSearch(listed.tools);
const found = new Map();

const findTools = tool({
  description: 'Finds tools for a task. Those it returns can be called in the next step.',
  inputSchema: z.object({ query: z.string().describe('What the tool should do, in a few words') }),
  execute: ({ query }) =>
    index.search(query, { limit: 5 }).map((hit) => {
      found.set(hit.tool.name, { query, tool: hit.tool });
      return { name: hit.tool.name, description: hit.tool.description };
    }),
});

try {
  const { text } = await generateText({
    model: openai(process.env.MODEL ?? 'gpt-5-mini'),
    prompt: task,
    tools: { ...client.toolsFromDefinitions(listed), find_tools: findTools },
    prepareStep: () => ({ activeTools: ['find_tools', ...found.keys()] }),
    onStepFinish({ toolCalls }) {
      // The next search for the same task ranks the tools that were used higher.
      for (const { toolName } of toolCalls) {
        const hit = found.get(toolName);
        if (hit !== undefined) index.used(hit.query, hit.tool);
      }
    },
    stopWhen: stepCountIs(20),
  });
  console.log(text);
} finally {
  await client.close();
}
