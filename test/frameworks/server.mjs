/** The server of the matrix: one tool for each thing that a framework has to carry. */

import { defineServer, stdio, tool } from '../../dist/kit/index.js';

const NOTHING = { type: 'object', properties: {} };
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');

const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' }, note: { type: 'string' } },
    required: ['a', 'b'],
  },
  run: ({ a, b }) => `The sum is ${a + b}`,
});
const picture = tool({
  name: 'picture',
  input: NOTHING,
  run: () => [
    { type: 'text', text: 'a pixel' },
    { type: 'image', data: PIXEL, mimeType: 'image/png' },
    { type: 'image', data: SVG, mimeType: 'image/svg+xml' },
  ],
});
const broken = tool({
  name: 'broken',
  input: NOTHING,
  run: () => {
    throw new Error('the disk is full');
  },
});
const ask = tool({
  name: 'ask',
  input: NOTHING,
  run: async (_input, { elicit }) => {
    const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const { action, content } = await elicit({ message: 'Who are you?', schema });
    return `${action} ${content?.name ?? ''}`;
  },
});
const slow = tool({
  name: 'slow',
  input: NOTHING,
  run: (_input, { signal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve('late'))),
});

await defineServer({ name: 'matrix', tools: [add, picture, broken, ask, slow] }).serve(stdio());
