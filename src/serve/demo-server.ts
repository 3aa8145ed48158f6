/** The demonstration server of `npm start`: a stdio program with a few tools that need nothing. */

import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const MAX_STEPS = 20;
const STEP_MS = 250;

function text(value: string): { content: [{ type: 'text'; text: string }] } {
  return { content: [{ type: 'text', text: value }] };
}

function createDemoServer(): McpServer {
  const server = new McpServer({ name: 'plugboard-demo', version: '1.0.0' });
  const readOnly = { readOnlyHint: true, openWorldHint: false };

  server.registerTool(
    'echo',
    {
      description: 'Gives a message back.',
      inputSchema: z.object({ message: z.string().describe('What to give back.') }),
      annotations: readOnly,
    },
    ({ message }) => text(message),
  );

  server.registerTool(
    'add',
    {
      description: 'Adds two numbers.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: readOnly,
    },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );

  server.registerTool(
    'now',
    { description: 'Tells the time, in UTC.', inputSchema: z.object({}), annotations: readOnly },
    () => text(new Date().toISOString()),
  );

  server.registerTool(
    'slow',
    {
      description: 'Works in steps of a quarter of a second and reports its progress.',
      inputSchema: z.object({ steps: z.number().int().min(1).max(MAX_STEPS).default(4) }),
      annotations: readOnly,
    },
    async ({ steps }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (let step = 1; step <= steps; step += 1) {
        await sleep(STEP_MS, undefined, { signal: mcpReq.signal });
        if (progressToken === undefined) continue;
        const params = { progressToken, progress: step, total: steps, message: `step ${step} of ${steps}` };
        await mcpReq.notify({ method: 'notifications/progress', params });
      }
      return text(`Done in ${steps} steps.`);
    },
  );

  return server;
}

serveStdio(createDemoServer);
