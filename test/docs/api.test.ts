/** The API reference is current, every export has a summary, and the examples have the types of what is shipped. */

import { mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiPages } from '../../scripts/docs/api-reference.mjs';
import { removeHome } from '../remove-home.ts';
import { installInto, typeCheck } from './programs.ts';
import { ROOT } from './snippets.ts';

/** TypeDoc reads all of src, and is installed first. */
const TYPEDOC_MS = 300_000;
const TYPE_CHECK_MS = 60_000;

/** Files whose examples need a host with certain servers; examples of other entry points are run by their own tests. */
const FILES = [
  'src/errors.ts',
  'src/host/host-library.ts',
  'src/host/host.ts',
  'src/host/result-values.ts',
  'src/manage/serve-http.ts',
  'src/remote-only/index.ts',
  'src/serve/serve-stdio.ts',
  'src/workspace/workspace-server.ts',
];

/** Names that examples use without a declaration. */
const PRELUDE = `
import { createHost, jsonOf, PlugboardError, textOf, workspaceServer } from 'plugboard';
import { serveHttp, serveStdio } from 'plugboard/serve';
import { z } from 'zod';
declare const host: import('plugboard').Host;
declare const request: Request;
declare const token: string;
`;

const temp = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-api-')));
beforeAll(() => installInto(temp));
afterAll(() => removeHome(temp));

it(
  'is written from the code (to update: npm run docs), with a summary for every export',
  async () => {
    for (const { page, text, should } of await apiPages())
      expect({ page, text }).toEqual({ page, text: should });
  },
  TYPEDOC_MS,
);

it(
  'examples of hosts and gateways have the types of what is shipped',
  async () => {
    const examples = FILES.flatMap((file) => examplesOf(file));
    expect(examples.length).toBeGreaterThan(FILES.length);
    expect(await typeCheck(temp, examples)).toEqual([]);
  },
  TYPE_CHECK_MS,
);

function examplesOf(file: string): Parameters<typeof typeCheck>[1][number][] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/@example\n([\s\S]*?)\n *\*\//g)].map(({ index, 1: block = '' }) => {
    const code = block.replaceAll(/^ *\* ?/gm, '');
    return {
      snippet: { page: file, line: text.slice(0, index).split('\n').length, language: 'ts', text: code },
      text: `${PRELUDE}export async function example() {\n${code}\n}`,
    };
  });
}
