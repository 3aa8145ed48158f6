/** A server with a typed tool, a resource and a prompt. Try it: plugboard --server 'todo=node server.mjs' tools */

import { defineServer, prompt, resource, stdio, tool } from 'plugboard/kit';
import { z } from 'zod';

const todo = new Map([['1', 'Write a server']]);

await defineServer({
  name: 'todo',
  version: '1.0.0',
  tools: [
    tool({
      name: 'add_todo',
      description: 'Adds something that has to be done.',
      input: z.object({ text: z.string().min(1) }),
      output: z.object({ id: z.string() }),
      run: ({ text }) => {
        const id = String(todo.size + 1);
        todo.set(id, text);
        return { id };
      },
    }),
  ],
  resources: [resource({ uri: 'todo://all', name: 'all', read: () => [...todo.values()].join('\n') })],
  prompts: [
    prompt({
      name: 'plan',
      description: 'Plans the day.',
      get: () => `Order these by importance:\n${[...todo.values()].join('\n')}`,
    }),
  ],
}).serve(stdio());
