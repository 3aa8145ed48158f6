import { FastMCP } from 'fastmcp';
import { z } from 'zod';

const cities = ['berlin', 'bern', 'paris'];
const complete = async (typed) => ({ values: cities.filter((city) => city.startsWith(typed)) });
const token = process.env.TOKEN;

const server = new FastMCP({
  name: 'weather',
  version: '1.0.0',
  ...(token === undefined
    ? {}
    : {
        authenticate: async (request) => {
          if (request.headers.authorization === `Bearer ${token}`) return { id: 'user' };
          throw new Response(null, { status: 401 });
        },
      }),
});
server.addTool({
  name: 'forecast',
  description: 'The weather of the next days.',
  parameters: z.object({ city: z.string(), days: z.number().default(2) }),
  outputSchema: z.object({ city: z.string(), degrees: z.array(z.number()) }),
  annotations: { readOnlyHint: true },
  async execute({ city, days }, { reportProgress }) {
    for (let day = 1; day <= days; day += 1) await reportProgress({ progress: day, total: days });
    return { structuredContent: { city, degrees: Array(days).fill(20) } };
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

await server.start(
  token === undefined
    ? { transportType: 'stdio' }
    : { transportType: 'httpStream', httpStream: { port: Number(process.env.PORT) } },
);
