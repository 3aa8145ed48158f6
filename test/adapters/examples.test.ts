/** Runs the examples in the JSDoc of the adapters; a line `value; // → expected` is a check. */

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import * as adapters from '../../src/adapters/index.ts';
import { adapterHost } from '../world/adapter-host.ts';
import { scriptedPi } from './callers.ts';

const source = fileURLToPath(new URL('../../src/adapters/', import.meta.url));

const examples = readdirSync(source).flatMap((file) =>
  [...readFileSync(`${source}${file}`, 'utf8').matchAll(/@example\n(.*?)\n \*\//gs)].map(
    ([, block = '']) => ({
      file,
      code: block.replaceAll(/^ \* ?/gm, '').replaceAll(/^(.*); \/\/ → (.*)$/gm, 'expect($1).toEqual($2);'),
    }),
  ),
);

it('UI-3: every adapter has an example', () => {
  const missing = Object.keys(adapters).filter(
    (name) => !examples.some(({ code }) => code.includes(`${name}`)),
  );
  expect(missing).toEqual([]);
});

it.each(examples)('UI-3: the example in $file runs', async ({ code }) => {
  const add = {
    inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
    run: (args: Readonly<Record<string, unknown>>) => String(Number(args['a']) + Number(args['b'])),
  };
  const { host } = await adapterHost({
    tools: { add },
    servers: { demo: { command: 'scripted', approval: 'approve' } },
  });
  const pi = scriptedPi();
  const scope = { ...adapters, host, expect, pi: pi.api };
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
  await AsyncFunction(...Object.keys(scope), code)(...Object.values(scope));
});
