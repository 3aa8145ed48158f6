/** Programs of gateway clients: both eras, both transports, with and without a person who can be asked. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Host } from '../../src/index.ts';
import { legacySession, modern, post } from '../serve/bare-client.ts';
import { until } from '../world/until.ts';
import { built, frozenIn, programWorld, SERVER } from './programs-world.ts';

type Json = Record<string, unknown>;

const ELICITATION = { elicitation: { form: {} } };

async function served(host: Host): Promise<string> {
  const module: typeof import('../../src/serve/index.ts') = await import(
    new URL('../../dist/serve/index.js', import.meta.url).href
  );
  const http = await module.serveHttp(host, { port: 0 });
  onTestFinished(() => http.close());
  return http.url;
}

function writing(file: string): Json {
  const code = `
    const { sum } = await tools.demo.add({ a: 1, b: 2 });
    await tools.demo.write({ file: ${JSON.stringify(file)}, line: 'sum ' + sum });
    return 'sum ' + sum;`;
  return { name: 'run', arguments: { code } };
}

function resultOf({ messages }: { readonly messages: readonly Json[] }): Json {
  const last = messages.at(-1) ?? {};
  return (last['result'] ?? last) as Json;
}

it('CAL-9: a modern client is asked with input_required, and another process continues the program', async () => {
  const { host, root, home } = await programWorld({ entry: {} });
  const file = join(root, 'lines');
  const params = writing(file);
  const url = await served(host);
  const asked = resultOf(await modern(url, 1, 'tools/call', params, ELICITATION));
  expect(asked['resultType']).toBe('input_required');
  const again = async (to: string, state: unknown, requests: unknown): Promise<Json> => {
    const keys = Object.keys(requests as Json);
    const inputResponses = Object.fromEntries(
      keys.map((key) => [key, { action: 'accept', content: { answer: 'Allow once' } }]),
    );
    return resultOf(
      await modern(to, 2, 'tools/call', { ...params, requestState: state, inputResponses }, ELICITATION),
    );
  };
  await until('it is saved', () => frozenIn(home).length === 1);
  // The process ends while the person decides.
  await host.close();
  const { createHost } = await built();
  const other = await createHost({
    home,
    cwd: root,
    configuration: false,
    codeMode: true,
    servers: { demo: { command: process.execPath, args: [SERVER], trusted: true } },
  });
  onTestFinished(() => other.close());
  await other.ready();
  const otherUrl = await served(other);
  const begun: string[] = [];
  other.on('call.begin', ({ tool }) => begun.push(tool));
  const once = await again(otherUrl, asked['requestState'], asked['inputRequests']);
  expect(once).toMatchObject({ resultType: 'input_required' });
  const done = await again(otherUrl, once['requestState'], once['inputRequests']);
  expect(done['content']).toEqual([{ type: 'text', text: 'sum 3' }]);
  expect(begun.toSorted()).toEqual(['run', 'write']);
  expect(readFileSync(file, 'utf8')).toBe('sum 3\n');
});

it('CAL-9: a legacy client that cannot be asked gets the id, and continues with it', async () => {
  const { host, root } = await programWorld({ entry: {} });
  const file = join(root, 'lines');
  const url = await served(host);
  const headers = await legacySession(url);
  const call = async (id: number, params: Json): Promise<Json> =>
    resultOf(await post(url, { jsonrpc: '2.0', id, method: 'tools/call', params }, headers));
  const listed = resultOf(await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers));
  expect((listed['tools'] as Json[]).map(({ name }) => name)).toContain('run');
  const paused = await call(2, writing(file));
  const { program, status } = paused['structuredContent'] as Json;
  expect({ status, isError: paused['isError'] }).toEqual({ status: 'paused', isError: false });
  expect(existsSync(file)).toBe(false);
  const still = await call(3, { name: 'run', arguments: { resume: program } });
  expect((still['structuredContent'] as Json)['program']).toBe(program);
});
