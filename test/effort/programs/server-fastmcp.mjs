import { FastMCP } from 'fastmcp';
import { z } from 'zod';

const cities = ['berlin', 'bern', 'paris'];
const complete = async (typed) => ({ values: cities.filter((city) => city.startsWith(typed)) });
const server = new FastMCP({ name: 'weather', version: '1.0.0' });

server.addTool({
  name: 'forecast',
  description: 'The weather of the next days.',
  parameters: z.object({ city: z.string(), days: z.number().default(2) }),
  outputSchema: z.object({ city: z.string(), degrees: z.array(z.number()) }),
  annotations: { readOnlyHint: true },
  async execute({ city, days }, { reportProgress }) {
    for (let day = 1; day <= days; day += 1) await reportProgress({ progress: day, total: days });
    const forecast = { city, degrees: Array(days).fill(20) };
    return { content: [{ type: 'text', text: JSON.stringify(forecast) }], structuredContent: forecast };
  },
});
server.addTool({
  name: 'subscribe',
  description: 'Sends the weather every morning.',
  async execute(_input, { elicit }) {
    const answer = await elicit({
      message: 'Your name?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
    return answer.action === 'accept' ? `Good morning, ${answer.content.name}` : 'Nothing is sent.';
  },
});
server.addResourceTemplate({
  name: 'archive',
  uriTemplate: 'weather://{city}',
  arguments: [{ name: 'city', complete }],
  load: async ({ city }) => ({ text: `It rained in ${city}.` }),
});
server.addPrompt({
  name: 'pack',
  arguments: [{ name: 'city', required: true, complete }],
  load: async ({ city }) => `What should I pack for ${city}?`,
});

await server.start({ transportType: 'stdio' });
