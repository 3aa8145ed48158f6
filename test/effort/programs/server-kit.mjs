import { defineServer, prompt, resourceTemplate, stdio, tool } from 'plugboard/kit';
import { z } from 'zod';

const cities = ['berlin', 'bern', 'paris'];
const startingWith = (typed) => cities.filter((city) => city.startsWith(typed));

const forecast = tool({
  name: 'forecast',
  description: 'The weather of the next days.',
  input: z.object({ city: z.string(), days: z.number().default(2) }),
  output: z.object({ city: z.string(), degrees: z.array(z.number()) }),
  annotations: { readOnlyHint: true },
  run({ city, days }, { progress }) {
    for (let day = 1; day <= days; day += 1) progress(day, days);
    return { city, degrees: Array(days).fill(20) };
  },
});
const subscribe = tool({
  name: 'subscribe',
  description: 'Sends the weather every morning.',
  async run(_input, { elicit }) {
    const answer = await elicit({ message: 'Your name?', schema: z.object({ name: z.string() }) });
    return answer.action === 'accept' ? `Good morning, ${answer.content.name}` : 'Nothing is sent.';
  },
});
const archive = resourceTemplate({
  uriTemplate: 'weather://{city}',
  read: ({ city }) => `It rained in ${city}.`,
  complete: { city: startingWith },
});
const pack = prompt({
  name: 'pack',
  arguments: { city: { required: true, complete: startingWith } },
  get: ({ city }) => `What should I pack for ${city}?`,
});

await defineServer({
  name: 'weather',
  tools: [forecast, subscribe],
  resources: [archive],
  prompts: [pack],
}).serve(stdio());
