import { defineServer, stdio, tool } from '@plugboard/kit';
import { z } from 'zod';

const echo = tool({
  name: 'echo',
  description: 'Gives the message back.',
  input: z.object({ message: z.string() }),
  run: ({ message }) => message,
});
await defineServer({ name: 'echo', version: '1.0.0', tools: [echo] }).serve(stdio());
