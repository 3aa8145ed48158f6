/** The echo server of these benches, written with the kit. */

import { defineServer, stdio, tool } from '../dist/kit/index.js';

const echo = tool({
  name: 'echo',
  description: 'Gives the message back.',
  input: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  run: ({ message }) => message,
});
await defineServer({ name: 'echo', version: '1', tools: [echo] }).serve(stdio());
