/**
 * The server that the agents of this comparison use, on the official SDK: over stdio, or over HTTP with a token.
 * PROBE_SAVED names the file that `save` writes, PROBE_TOOLS how many more tools there are.
 */

import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const TOKEN = 'probe-token';
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const text = (value) => ({ content: [{ type: 'text', text: value }] });

function probe() {
  const server = new McpServer({ name: 'probe', version: '1.0.0' });
  const isReadOnly = { readOnlyHint: true };
  const add = (name, description, inputSchema, run, annotations = isReadOnly) =>
    server.registerTool(name, { description, inputSchema, annotations }, run);
  add('echo', 'Gives the text back.', { text: z.string() }, (input) => text(`echo ${input.text}`));
  add('level', 'Gives the level back.', { level: z.string().default('low') }, (input) =>
    text(`level ${input.level}`),
  );
  add('whoami', 'Asks for the name of the user.', {}, async () => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const { action, content } = await server.server.elicitInput({ message: 'Your name?', requestedSchema });
    return text(`${action} ${content?.name}`);
  });
  add('picture', 'A picture.', {}, () => ({
    content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }],
  }));
  add(
    'save',
    'Saves a text.',
    { text: z.string() },
    (input) => {
      appendFileSync(process.env.PROBE_SAVED, input.text);
      return text('saved');
    },
    { destructiveHint: true },
  );
  add('crash', 'Ends the server.', {}, () => process.exit(1));
  for (let number = 1; number <= Number(process.env.PROBE_TOOLS ?? 0); number += 1)
    add(
      `report_${number}`,
      `Makes report ${number} of a month and sends it to a person.`,
      {
        month: z.string().describe('The month, as 2026-11'),
        person: z.string().describe('The address of the person'),
        isUrgent: z.boolean().optional().describe('Whether it is sent before the others'),
      },
      () => text('sent'),
    );
  return server;
}

if (process.argv[2] === '--http') {
  const listener = createServer(async (request, response) => {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return void response.writeHead(401).end();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await probe().connect(transport);
    await transport.handleRequest(request, response);
  });
  listener.listen(0, '127.0.0.1', () => console.log(listener.address().port));
} else {
  await probe().connect(new StdioServerTransport());
}
