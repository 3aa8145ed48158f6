import {
  acceptedContent,
  completable,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const cities = ['berlin', 'bern', 'paris'];
const startingWith = (typed) => cities.filter((city) => city.startsWith(typed));
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const Name = z.object({ name: z.string() });

serveStdio(() => {
  const server = new McpServer({ name: 'weather', version: '1.0.0' });
  server.registerTool(
    'forecast',
    {
      description: 'The weather of the next days.',
      inputSchema: z.object({ city: z.string(), days: z.number().default(2) }),
      outputSchema: z.object({ city: z.string(), degrees: z.array(z.number()) }),
      annotations: { readOnlyHint: true },
    },
    async ({ city, days }, { mcpReq }) => {
      const { progressToken } = mcpReq._meta ?? {};
      for (let day = 1; progressToken !== undefined && day <= days; day += 1) {
        const params = { progressToken, progress: day, total: days };
        await mcpReq.notify({ method: 'notifications/progress', params });
      }
      const structuredContent = { city, degrees: Array(days).fill(20) };
      return { ...text(JSON.stringify(structuredContent)), structuredContent };
    },
  );
  server.registerTool(
    'subscribe',
    { description: 'Sends the weather every morning.' },
    ({ mcpReq: { inputResponses } }) => {
      const accepted = acceptedContent(inputResponses, 'who', Name);
      if (accepted !== undefined) return text(`Good morning, ${accepted.name}`);
      if (inputResponse(inputResponses, 'who').kind !== 'missing') return text('Nothing is sent.');
      const who = inputRequired.elicit({ message: 'Your name?', requestedSchema: Name });
      return inputRequired({ inputRequests: { who } });
    },
  );
  server.registerResource(
    'archive',
    new ResourceTemplate('weather://{city}', { list: undefined, complete: { city: startingWith } }),
    {},
    ({ href }, { city }) => ({ contents: [{ uri: href, text: `It rained in ${city}.` }] }),
  );
  server.registerPrompt(
    'pack',
    { argsSchema: z.object({ city: completable(z.string(), startingWith) }) },
    ({ city }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `What should I pack for ${city}?` } }],
    }),
  );
  return server;
});
