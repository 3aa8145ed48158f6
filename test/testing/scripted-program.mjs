/** A scripted server as a stdio program; the argument says which eras it speaks. */

import { scriptedServer } from '../../dist/testing/index.js';

await scriptedServer({
  name: 'program',
  eras: process.argv[2] ?? 'both',
  tools: {
    echo: ({ message }) => String(message),
    leave: (_, { crash }) => crash(9),
    noise: (_, { line }) => {
      line('not a frame');
      return 'after the noise';
    },
  },
}).stdio();
