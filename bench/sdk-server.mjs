/** One tool on the SDK's own server over stdio, as most servers in the world are made. `hang` never answers. */

import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

if (process.argv[2] === 'hang') process.stdin.resume();
else
  serveStdio(() => {
    const server = new McpServer({ name: 'bench', version: '1.0.0' });
    server.registerTool(
      'echo',
      { description: 'Gives the message back.', inputSchema: z.object({ message: z.string() }) },
      ({ message }) => ({ content: [{ type: 'text', text: message }] }),
    );
    return server;
  });
