/** The echo server on fastmcp, whose module is given as an address: node kit-fastmcp-server.mjs <url of FastMCP.js> */

import { z } from 'zod';

const { FastMCP } = await import(process.argv[2]);

const server = new FastMCP({ name: 'echo', version: '1.0.0' });
server.addTool({
  name: 'echo',
  description: 'Gives the message back.',
  parameters: z.object({ message: z.string() }),
  execute: async ({ message }) => message,
});
await server.start({ transportType: 'stdio' });
