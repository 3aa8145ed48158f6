import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { defineServer, http, jwtVerifier, PlugboardError, tool } from '@plugboard/kit';
import { connectInMemory } from '@plugboard/kit/testing';

const add = tool({
  name: 'add',
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  run: ({ a, b }) => String(a + b),
});
const server = () => defineServer({ name: 'sums', tools: [add] });
const THREE = [{ type: 'text', text: '3' }];
const call = (args) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'add', arguments: args },
});
const post = (message) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify(message),
});

for (const era of ['modern', 'legacy'])
  test(`a client of the ${era} era calls a tool in memory, with validated arguments`, async () => {
    const client = await connectInMemory(server(), { era });
    assert.deepEqual((await client.call('add', { a: 1, b: 2 })).content, THREE);
    assert.equal((await client.call('add', { a: 'x', b: 2 })).isError, true);
    await client.close();
  });

test('a handler answers requests of the Fetch standard', async () => {
  const mcp = server().handler();
  const response = await mcp.fetch(new Request('http://localhost/mcp', post(call({ a: 1, b: 2 }))));
  assert.deepEqual((await response.json()).result.content, THREE);
  await mcp.close();
});

test('a listener answers over HTTP', async () => {
  const served = await server().serve(http({ port: 0 }));
  const response = await fetch(served.url, post(call({ a: 1, b: 2 })));
  assert.deepEqual((await response.json()).result.content, THREE);
  await served.close();
});

test('a program serves over stdio', async () => {
  const program = spawn(process.execPath, [fileURLToPath(new URL('stdio-server.mjs', import.meta.url))]);
  program.stdin.end(`${JSON.stringify(call({ a: 1, b: 2 }))}\n`);
  let printed = '';
  program.stdout.on('data', (data) => {
    printed += data;
  });
  const [code] = await once(program, 'close');
  assert.deepEqual([code, JSON.parse(printed).result.content], [0, THREE]);
});

test('the build for workers uses neither Node nor eval', async () => {
  const worker = new URL('worker/index.js', import.meta.resolve('@plugboard/kit'));
  const kit = await import(worker.href);
  const mcp = kit.defineServer({ name: 'sums', tools: [add] }).handler({ maxSessions: 0 });
  const answer = async (args) =>
    (await (await mcp.fetch(new Request('http://localhost/mcp', post(call(args))))).json()).result;
  assert.deepEqual((await answer({ a: 1, b: 2 })).content, THREE);
  assert.equal((await answer({ a: 'x', b: 2 })).isError, true);
  await mcp.close();
  await assert.rejects(kit.defineServer({ name: 'x' }).serve(kit.http()), { code: 'USAGE' });
});

test('it can be required, and its errors have one class', async () => {
  const required = createRequire(import.meta.url)('@plugboard/kit');
  const mcp = required.defineServer({ name: 'sums', tools: [add] }).handler({ health: true });
  const response = await mcp.fetch(new Request('http://localhost/mcp', post(call({ a: 1, b: 2 }))));
  assert.deepEqual((await response.json()).result.content, THREE);
  await mcp.close();
  assert.throws(() => jwtVerifier({ issuer: 'x', audience: 'y' }), PlugboardError);
});
