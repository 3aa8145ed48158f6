/** The server that the tests of deployments serve: progress, a question, an invalid argument. */

import { defineServer, type Server, tool } from '../../src/kit/index.ts';

export function deployable(): Server {
  const count = tool({
    name: 'count',
    description: 'Counts.',
    input: { type: 'object', properties: { to: { type: 'integer' } }, required: ['to'] },
    run: ({ to }, { progress }) => {
      for (let n = 1; n <= to; n += 1) progress(n, to);
      return `counted to ${to}`;
    },
  });
  const ask = tool({
    name: 'ask',
    run: async (_args, { elicit }) => {
      const schema = { type: 'object', properties: { name: { type: 'string' } } } as const;
      const answer = await elicit({ message: 'Who?', schema });
      return answer.action === 'accept' ? `Hello, ${answer.content.name}` : answer.action;
    },
  });
  return defineServer({ name: 'deployable', version: '1.0.0', tools: [count, ask] });
}
