/** Runs the examples in the JSDoc of the entry points; a line `value; // → expected` is a check. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import * as kit from '../../src/kit/index.ts';
import * as serve from '../../src/serve/index.ts';
import * as testing from '../../src/testing/index.ts';
import { smallHost } from '../serve/small-host.ts';

const source = fileURLToPath(new URL('../../src', import.meta.url));
const FILES: readonly string[] = [
  'transport/memory-transport.ts',
  'manage/serve-http.ts',
  'kit/content-media.ts',
  'kit/definitions.ts',
  'kit/define-server.ts',
  'kit/jwt-verifier.ts',
  'kit/transports.ts',
  ...readdirSync(join(source, 'testing')).map((file) => join('testing', file)),
];

interface Example {
  readonly file: string;
  readonly code: string;
}

function examplesOf(file: string): Example[] {
  const text = readFileSync(join(source, file), 'utf8');
  return [...text.matchAll(/@example\n(.*?)\n +\*\//gs)].map(([, block = '']) => ({
    file,
    code: block.replaceAll(/^ +\* ?/gm, '').replaceAll(/^(.*); \/\/ → (.*)$/gm, 'expect($1).toEqual($2);'),
  }));
}

const examples = FILES.flatMap(examplesOf);

it('KIT-3: every function of plugboard/testing has an example', () => {
  const functions = Object.entries(testing).filter(([, value]) => typeof value === 'function');
  const missing = functions.filter(([name]) => !examples.some(({ code }) => code.includes(`${name}(`)));
  expect(missing.map(([name]) => name)).toEqual([]);
});

it('KIT-1: every function of plugboard/kit has an example', () => {
  const { RpcFailure: _failure, PlugboardError: _error, ...functions } = kit;
  const missing = Object.keys(functions).filter(
    (name) => !examples.some(({ code }) => code.includes(`${name}(`)),
  );
  expect(missing).toEqual([]);
});

it.each(examples)('KIT-3: the example in $file runs', async ({ code }) => {
  const { host, close } = await smallHost({});
  try {
    const streams = { input: new PassThrough(), output: new PassThrough() };
    const scope = { ...testing, ...serve, ...kit, host, streams, expect };
    const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
    await AsyncFunction(...Object.keys(scope), code)(...Object.values(scope));
  } finally {
    await close();
  }
});
