/** An ordinary server on the SDK with as many tools as its argument says: `node many-tools-server.mjs 50`. */

import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const count = Number(process.argv[2] ?? 50);

const server = new McpServer({ name: 'many', version: '1.0.0' });
for (let at = 0; at < count; at += 1) {
  server.registerTool(
    `tool_${at}`,
    {
      description: `Does the thing number ${at}: looks something up, changes it, and says what it has done.`,
      inputSchema: z.object({
        query: z.string().describe('What to look for'),
        limit: z.number().int().optional().describe('How many at most'),
      }),
    },
    async ({ query }) => ({ content: [{ type: 'text', text: query }] }),
  );
}
// Connected by hand it speaks the legacy era, as most servers out there do.
await server.connect(new StdioServerTransport());
