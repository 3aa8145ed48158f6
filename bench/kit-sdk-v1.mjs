/** The echo server of these benches on the plain SDK v1, which tests install into .cache/real-clients. */

import { createRequire } from 'node:module';
import { sdkV1 } from '../scripts/install-real-clients.mjs';

const { McpServer } = await import(`${sdkV1}/server/mcp.js`);
const { StdioServerTransport } = await import(`${sdkV1}/server/stdio.js`);
const { z } = createRequire(`${sdkV1}/server/mcp.js`)('zod');

const server = new McpServer({ name: 'echo', version: '1' });
server.registerTool(
  'echo',
  { description: 'Gives the message back.', inputSchema: { message: z.string() } },
  ({ message }) => ({ content: [{ type: 'text', text: message }] }),
);
await server.connect(new StdioServerTransport());
