import { defineServer, stdio, tool } from '@plugboard/kit';

const add = tool({ name: 'add', run: ({ a, b }) => String(a + b) });
await defineServer({ name: 'sums', tools: [add] }).serve(stdio());
